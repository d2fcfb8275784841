import { Application } from "../../src/core/application.js";
import { FIRMWARE } from "../../src/core/firmware.js";
import improv from "../../src/features/improv.js";
import { UsbSerial } from "../../src/hardware/drivers/usb-serial.js";
import type { SerialOptions, SerialPort, SerialRecord } from "../../src/hardware/hardware.js";
import type { AccessPoint, FoundNetwork, WiFiAccess } from "../../src/hardware/wifi-setup.js";
import { makePacket, PACKET, PacketReader } from "../../src/protocols/improv-packet.js";
import { FakeAccessPoint } from "../doubles/fake-access-point.js";
import { FakeBoard, FakeSettings } from "../doubles/fake-board.js";
import { FakeWebSocketClient } from "../doubles/fake-clients.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { equal, given, ok, settled, suite } from "../harness.js";

/** Packets on the wire, from the protocol's description: the name "IMPROV", version, type, length, data, checksum. */
const WIRE = {
	requestState: "49 4d 50 52 4f 56 01 03 02 02 00 e5",
	requestInfo: "49 4d 50 52 4f 56 01 03 02 03 00 e6",
	requestNetworks: "49 4d 50 52 4f 56 01 03 02 04 00 e7",
	/** "home", "secret12" */
	setWiFi: "49 4d 50 52 4f 56 01 03 10 01 0e 04 68 6f 6d 65 08 73 65 63 72 65 74 31 32 9e",
	ready: "49 4d 50 52 4f 56 01 01 01 02 e2",
	noError: "49 4d 50 52 4f 56 01 02 01 00 e1",
};

function bytes(hex: string): Uint8Array {
	return Uint8Array.from(hex.split(" "), (each) => Number.parseInt(each, 16));
}

function startOn(board: FakeBoard, log: string[] = [], built: Readonly<Record<string, unknown>> = {}): Application {
	const application = new Application({
		openBoard: () => board,
		store: new FakeSettings(),
		built: { backend: "ws://h/", ...built },
		openNetwork: () => ({ ws: { io: FakeWebSocketClient } }),
		findTools: () => [],
		timer: new FakeTimer(),
		log: (line) => void (line.startsWith("Improv") && log.push(line)),
	});
	application.start([improv]);
	return application;
}

class Line {
	readonly log: string[] = [];
	readonly joinedWith: WiFiAccess[] = [];
	canJoin = true;
	networks: FoundNetwork[] = [];
	readonly board = new FakeBoard();
	options!: SerialOptions;
	readonly #sent: number[] = [];
	#arrived = new Uint8Array(0);

	open(built: Readonly<Record<string, unknown>> = {}, room = 1_000) {
		const line = this;
		class Port implements SerialPort {
			constructor(options: SerialOptions) {
				line.options = options;
			}

			read(count: number): ArrayBuffer {
				return line.#arrived.slice(0, count).buffer as ArrayBuffer;
			}

			write(data: ArrayBuffer): void {
				line.#sent.push(...new Uint8Array(data));
			}

			close(): void {}
		}
		const accessPoint = {
			scan: async () => this.networks,
			join: async (access: WiFiAccess) => {
				this.joinedWith.push(access);
				this.board.network.online = this.canJoin;
				return this.canJoin;
			},
		} as unknown as AccessPoint;
		this.board.network.online = false;
		const board = Object.assign(this.board, { serials: [{ io: Port } as SerialRecord], accessPoint });
		const application = startOn(board, this.log, built);
		this.options.onWritable(room);
		return application;
	}

	get stored(): object {
		const own = [...this.board.settings.values].filter(([key]) => key.startsWith("xs-mcp/"));
		return Object.fromEntries(own.map(([key, value]) => [key.slice(7), value]));
	}

	async send(data: Uint8Array): Promise<void> {
		this.#arrived = data.slice();
		this.options.onReadable(data.length);
		await settled();
	}

	/** The packets that the device has sent since the last time: type, and data as text or numbers. */
	take(): [type: number, ...data: unknown[]][] {
		const packets: [number, ...unknown[]][] = [];
		const reader = new PacketReader({
			onPacket: (type, data) => packets.push(type === PACKET.result ? [type, ...texts(data)] : [type, ...data]),
			onDamaged: () => packets.push([-1]),
		});
		reader.read(Uint8Array.from(this.#sent.splice(0)));
		return packets;
	}

	takeBytes(): number[] {
		return this.#sent.splice(0);
	}
}

class FakeUsb {
	isOpen = false;
	arrived: ArrayBuffer | undefined;
	readonly sent: number[] = [];

	open(): void {
		this.isOpen = true;
	}

	close(): void {
		this.isOpen = false;
	}

	read(): ArrayBuffer | undefined {
		const { arrived } = this;
		this.arrived = undefined;
		return arrived;
	}

	write(data: ArrayBuffer): number {
		const taken = new Uint8Array(data).subarray(0, 7);
		this.sent.push(...taken);
		return taken.length;
	}
}

function texts(data: Uint8Array): unknown[] {
	const found: unknown[] = [data[0]];
	for (let at = 2; at < data.length; at += 1 + (data[at] as number)) {
		found.push(String.fromCharCode(...data.slice(at + 1, at + 1 + (data[at] as number))));
	}
	return found;
}

function command(...data: number[]): Uint8Array {
	return makePacket(PACKET.command, data);
}

function setWiFi(ssid: string, password: string): Uint8Array {
	const codes = (text: string): number[] => [...text].map((each) => each.charCodeAt(0));
	const data = [ssid.length, ...codes(ssid), password.length, ...codes(password)];
	return command(0x01, data.length, ...data);
}

const opened = (built?: Readonly<Record<string, unknown>>): Line => {
	const line = new Line();
	line.open(built);
	return line;
};

export default suite("Improv, by which a computer sets up the Wi-Fi over the serial port", {
	"answers a request for the state as the protocol has it, byte by byte": given(opened, async (line) => {
		equal([line.options.baud, line.options.format], [115_200, "buffer"]);
		await line.send(bytes(WIRE.requestState));
		equal(line.takeBytes(), [...bytes(WIRE.noError), 0x0a, ...bytes(WIRE.ready), 0x0a]);
	}),
	"takes commands as the protocol has them, however they arrive": given(opened, async (whole) => {
		await whole.send(bytes(WIRE.setWiFi));
		const piecemeal = opened();
		for (const byte of [...bytes("49 4d 50 0d 0a 49 49 4d 50 52 4f 56 02 00"), ...bytes(WIRE.setWiFi)]) {
			await piecemeal.send(Uint8Array.of(byte));
		}
		for (const line of [whole, piecemeal]) {
			equal(line.joinedWith, [{ ssid: "home", password: "secret12" }]);
		}
	}),
	"tells what the device is": given(opened, async (line) => {
		await line.send(bytes(WIRE.requestInfo));
		equal(line.take(), [[4, 3, "xs-mcp", FIRMWARE.version, "fake", "xs-mcp-000001"]]);
	}),
	"lists the networks, and ends the list with an empty result": given(opened, async (line) => {
		line.networks = [
			{ ssid: "home", rssi: -42, secured: true },
			{ ssid: "cafe", rssi: -80, secured: false },
		];
		await line.send(bytes(WIRE.requestNetworks));
		equal(line.take(), [
			[4, 4, "home", "-42", "YES"],
			[4, 4, "cafe", "-80", "NO"],
			[4, 4],
		]);
	}),
	async "joins, stores, answers with the device's URL if it has one, and restarts"() {
		const line = opened({ http: "80" });
		await line.send(setWiFi("home", "secret12"));
		equal(line.take(), [
			[2, 0],
			[1, 3],
			[1, 4],
			[4, 1, "http://xs-mcp-000001.local:80/mcp"],
		]);
		equal(line.stored, { ssid: "home", password: "secret12" });
		equal([line.board.restarts, line.log], [[2_000], ['Improv: joined "home"']]);
		const silent = opened();
		await silent.send(setWiFi("open", ""));
		equal(silent.take().at(-1), [4, 1]);
		equal(silent.joinedWith, [{ ssid: "open", password: "" }]);
	},
	"stores nothing if the network cannot be joined, and can be tried again": given(opened, async (line) => {
		line.canJoin = false;
		await line.send(setWiFi("home", "wrong123"));
		equal(line.take(), [
			[2, 0],
			[1, 3],
			[2, 3],
			[1, 2],
		]);
		equal([line.stored, line.board.restarts], [{}, []]);
		line.canJoin = true;
		await line.send(setWiFi("home", "right123"));
		equal(line.take().at(-2), [1, 4]);
	}),
	async "tells a device that is online as set up, with its URL"() {
		const line = opened({ http: 8080 });
		line.board.network.online = true;
		await line.send(bytes(WIRE.requestState));
		equal(line.take(), [
			[2, 0],
			[1, 4],
			[4, 2, "http://xs-mcp-000001.local:8080/mcp"],
		]);
	},
	"answers what it cannot read, or does not know, with an error": given(opened, async (line) => {
		const damaged = bytes(WIRE.requestState);
		damaged[11] = 0;
		for (const [data, error] of [
			[damaged, 1],
			[command(0x02, 5), 1],
			[command(), 1],
			[command(0x01, 2, 0, 0), 1],
			[command(0x01, 3, 9, 65, 0), 1],
			[command(0x01, 4, 1, 65, 0, 0), 1],
			[setWiFi("x".repeat(33), ""), 1],
			[command(0x01, 4, 2, 0xff, 0xfe, 0), 1],
			[command(0x63, 0), 2],
		] as const) {
			await line.send(data);
			equal(line.take(), [[2, error]]);
		}
		await line.send(makePacket(PACKET.state, [2]));
		equal([line.take(), line.joinedWith], [[], []]);
	}),
	async "sends piece by piece, as the port has room, and drops what nobody waits for"() {
		const line = new Line();
		line.open({}, 5);
		await line.send(bytes(WIRE.requestState));
		equal(line.takeBytes(), [...bytes("49 4d 50 52 4f")]);
		line.options.onWritable(9);
		equal(line.takeBytes(), [...bytes("56 01 02 01 00 e1 0a"), ...bytes("49 4d")]);
		for (let requests = 0; requests < 500; requests += 1) {
			await line.send(bytes(WIRE.requestState));
		}
		line.options.onWritable(100_000);
		equal(line.takeBytes().length < 4_200, true);
	},
	"leaves the device alone if the port cannot be opened"() {
		const log: string[] = [];
		class Taken {
			constructor() {
				throw new RangeError("port in use");
			}
		}
		const parts = { serials: [{ io: Taken }], accessPoint: new FakeAccessPoint() };
		const board = Object.assign(new FakeBoard(), parts);
		startOn(board as unknown as FakeBoard, log);
		ok(log.includes("Improv: could not open the serial port: RangeError: port in use"));
	},
	async "works over USB, whose driver is polled, and sends no more than it takes"() {
		const timer = new FakeTimer();
		const usb = new FakeUsb();
		const serials = [{ io: UsbSerial, usb, timer } as unknown as SerialRecord];
		const board = Object.assign(new FakeBoard(), { serials, accessPoint: new FakeAccessPoint() });
		board.network.online = false;
		const application = startOn(board);
		usb.arrived = bytes(WIRE.requestState).buffer as ArrayBuffer;
		for (let poll = 0; poll < 10; poll += 1) {
			timer.pass(50);
		}
		equal(usb.sent, [...bytes(WIRE.noError), 0x0a, ...bytes(WIRE.ready), 0x0a]);
		application.emit("onClose");
		equal([usb.isOpen, timer.size], [false, 0]);
	},
	"is not offered on a board without a serial port"() {
		equal(startOn(new FakeBoard()).state, "connecting");
	},
});
