import type { Application } from "../core/application.js";
import { FIRMWARE } from "../core/firmware.js";
import { storeNetwork } from "../core/known-networks.js";
import type { Feature, Listener } from "../core/listener.js";
import { settingText } from "../core/read-setting.js";
import { WriteQueue } from "../core/text/write-queue.js";
import type { Hardware, SerialPort, SerialRecord } from "../hardware/hardware.js";
import type { WiFiAccess } from "../hardware/wifi-setup.js";
import { makePacket, PACKET, PacketReader, type PacketType } from "../protocols/improv-packet.js";

const STATE = Object.freeze({ ready: 0x02, provisioning: 0x03, provisioned: 0x04 } as const);
const ERROR = Object.freeze({ none: 0x00, invalid: 0x01, unknownCommand: 0x02, notJoined: 0x03, other: 0xff } as const);
const COMMAND = Object.freeze({ setWiFi: 0x01, state: 0x02, info: 0x03, networks: 0x04 } as const);

/** Bytes of a result's strings, including one byte each for the length. */
const MAX_RESULT_BYTES = 253;

const MAX_NETWORKS = 20;

/** Milliseconds from a new network to the restart: time to send the answer. */
const RESTART_DELAY = 2_000;

/** Bits per second that web flashers use. */
const BAUD = 115_200;

/** Maximum queued bytes. Requests beyond it get no answer. */
const MAX_WAITING = 4_096;

/** Improv Wi-Fi over a serial line (https://www.improv-wifi.com/serial/). A new network restarts the device. */
class ImprovService extends WriteQueue implements Listener {
	private readonly app: Application;
	private readonly parts: Required<Pick<Hardware, "accessPoint" | "network" | "settings">>;
	private readonly port: SerialPort;
	/** Bytes that can be written to the port. */
	private free = 0;
	private isJoining = false;
	private isScanning = false;

	/** @throws Error if the port is in use, for example by the debugger */
	constructor(app: Application, parts: ImprovService["parts"], { io, ...record }: SerialRecord) {
		super(MAX_WAITING, 0, 1);
		this.app = app;
		this.parts = parts;
		const reader = new PacketReader({
			onPacket: (type, data) => this.receive(type, data),
			onDamaged: () => this.send(PACKET.error, [ERROR.invalid]),
		});
		this.port = new io({
			...record,
			baud: BAUD,
			format: "buffer",
			onReadable: (count) => reader.read(new Uint8Array(this.port.read(count) ?? new ArrayBuffer(0))),
			onWritable: (count) => {
				this.free = count;
				this.setRoom(count);
			},
		});
	}

	onClose(): void {
		this.port.close();
	}

	protected override write(bytes: Uint8Array): number {
		this.free -= bytes.length;
		this.port.write(bytes.slice().buffer);
		return this.free;
	}

	private receive(type: number, data: Uint8Array): void {
		if (type !== PACKET.command) {
			return;
		}
		const [command, length] = data;
		if (length !== data.length - 2) {
			this.send(PACKET.error, [ERROR.invalid]);
			return;
		}
		switch (command) {
			case COMMAND.setWiFi:
				void this.setWiFi(data.subarray(2));
				break;
			case COMMAND.state:
				this.sendState();
				break;
			case COMMAND.info:
				this.answer(COMMAND.info, [FIRMWARE.name, FIRMWARE.version, this.app.board.name, this.app.hostname]);
				break;
			case COMMAND.networks:
				void this.sendNetworks();
				break;
			default:
				this.send(PACKET.error, [ERROR.unknownCommand]);
		}
	}

	private send(type: PacketType, data: readonly number[]): void {
		this.push(makePacket(type, data).buffer as ArrayBuffer);
	}

	private sendState(): void {
		const isJoined = this.parts.network.online;
		this.send(PACKET.error, [ERROR.none]);
		this.send(PACKET.state, [this.isJoining ? STATE.provisioning : isJoined ? STATE.provisioned : STATE.ready]);
		if (isJoined && !this.isJoining) {
			this.answerUrl(COMMAND.state);
		}
	}

	/** Answers with the URL to open next, if there is one. */
	private answerUrl(command: number): void {
		const port = settingText("http", this.app.source);
		this.answer(command, port === "" ? [] : [`http://${this.app.hostname}.local:${port}/mcp`]);
	}

	/** Sends a result. Texts that do not fit are omitted. */
	private answer(command: number, texts: readonly string[]): void {
		const data: number[] = [];
		for (const text of texts) {
			const bytes = new Uint8Array(ArrayBuffer.fromString(text));
			if (data.length + 1 + bytes.length <= MAX_RESULT_BYTES) {
				data.push(bytes.length, ...bytes);
			}
		}
		this.send(PACKET.result, [command, data.length, ...data]);
	}

	private async setWiFi(data: Uint8Array): Promise<void> {
		const access = readAccess(data);
		if (access === undefined || this.isJoining) {
			this.send(PACKET.error, [access === undefined ? ERROR.invalid : ERROR.other]);
			return;
		}
		const { network, accessPoint, settings } = this.parts;
		const { source, board, log } = this.app;
		this.isJoining = true;
		this.send(PACKET.error, [ERROR.none]);
		this.send(PACKET.state, [STATE.provisioning]);
		let error: number = ERROR.notJoined;
		try {
			const isJoined = await accessPoint.join(access);
			log(`Improv: ${isJoined ? "joined" : "could not join"} ${JSON.stringify(access.ssid)}`);
			if (isJoined) {
				storeNetwork(access, { ...source, settings });
				board.system.restart(RESTART_DELAY);
				error = ERROR.none;
			}
		} catch (cause) {
			log(`Improv: could not set up the Wi-Fi: ${String(cause)}`);
			error = ERROR.other;
		}
		this.isJoining = false;
		if (error === ERROR.none) {
			this.send(PACKET.state, [STATE.provisioned]);
			this.answerUrl(COMMAND.setWiFi);
		} else {
			this.send(PACKET.error, [error]);
			this.send(PACKET.state, [network.online ? STATE.provisioned : STATE.ready]);
		}
	}

	/** Sends a result per network, and an empty one at the end. Does not scan while joining, which a scan disturbs. */
	private async sendNetworks(): Promise<void> {
		if (this.isJoining || this.isScanning) {
			this.send(PACKET.error, [ERROR.other]);
			return;
		}
		this.isScanning = true;
		const found = await this.parts.accessPoint.scan();
		this.isScanning = false;
		for (const { ssid, rssi, secured } of found.slice(0, MAX_NETWORKS)) {
			this.answer(COMMAND.networks, [ssid, String(rssi), secured ? "YES" : "NO"]);
		}
		this.answer(COMMAND.networks, []);
	}
}

/** The network's name and password, each after its length. Undefined if the lengths do not match the data. */
const readAccess = (data: Uint8Array): WiFiAccess | undefined => {
	const end = 1 + (data[0] ?? 0);
	const passwordEnd = end + 1 + (data[end] ?? 0);
	if (data.length < 3 || end === 1 || end - 1 > 32 || passwordEnd !== data.length) {
		return undefined;
	}
	try {
		return { ssid: textOf(data.slice(1, end)), password: textOf(data.slice(end + 1)) };
	} catch {
		// Not valid UTF-8.
		return undefined;
	}
};

const textOf = (bytes: Uint8Array): string => String.fromArrayBuffer(bytes.buffer as ArrayBuffer);

/** Lets a computer set up the Wi-Fi over a serial port, on a board that has one, an access point and settings. */
export default {
	name: "improv",
	rescue: true,
	start(app) {
		const { serials = [], accessPoint, network, settings } = app.board;
		if (accessPoint === undefined || network === undefined || settings === undefined) {
			return;
		}
		for (const serial of serials) {
			try {
				app.listen(new ImprovService(app, { accessPoint, network, settings }, serial));
			} catch (error) {
				app.log(`Improv: could not open the serial port: ${String(error)}`);
			}
		}
	},
} satisfies Feature;
