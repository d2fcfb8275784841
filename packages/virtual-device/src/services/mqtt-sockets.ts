import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import mqttPacket, { type IConnectPacket, type Packet, type Parser } from "mqtt-packet";
import type { MqttClientOptions } from "../../../../src/protocols/mqtt/mqtt-channel.js";
import type { Connection, Open, Tell } from "./connections.js";
import { SEND_WINDOW, splitIntoParts } from "./connections.js";

interface OpenOptions extends Omit<MqttClientOptions, "id" | `on${string}`> {
	readonly clientId: string;
	readonly secure: boolean;
}

interface WriteOptions {
	readonly operation?: number;
	readonly topic: string;
	readonly QoS?: 0 | 1;
	readonly byteLength?: number;
	readonly items: readonly { readonly topic: string; readonly QoS: 0 | 1 }[];
}

/** MQTT 3.1.1 §2.2.1, as ECMA-419 numbers its operations. */
const PUBLISH = 3;
const PUBACK = 4;
const SUBSCRIBE = 8;
const SUBACK = 9;
const PINGREQ = 12;
const PINGRESP = 13;
const DISCONNECT = 14;

/**
 * Opens an MQTT connection for the firmware.
 *
 * On mqtt-packet rather than MQTT.js: the firmware's client class (ECMA-419) writes a message in parts, is informed how
 * many bytes it may write next, and leaves parts unread while it is busy. MQTT.js takes and hands over whole messages
 * and queues writes by itself, so that those paths of the firmware would never run.
 */
export const openMqtt: Open = ([options], tell) => new MqttConnection(options as OpenOptions, tell);

/** One connection to a broker: a socket, and `mqtt-packet` to read and make what goes through it. */
class MqttConnection implements Connection {
	readonly #socket: Socket;
	readonly #tell: Tell;
	readonly #parser: Parser = mqttPacket.parser({ protocolVersion: 4 });
	/** An incomplete message of the firmware. */
	#message: { readonly options: WriteOptions; readonly parts: Uint8Array[]; remaining: number } | undefined;
	#lastId = 0;
	#keepAliveTimer: NodeJS.Timeout | undefined;

	constructor(options: OpenOptions, tell: Tell) {
		this.#tell = tell;
		const { host, port, secure } = options;
		this.#socket = secure
			? connectTls({ host, port, ...(isIP(host) === 0 && { servername: host }) })
			: connectTcp({ host, port });
		// As with a WebSocket: a small packet does not wait for the previous acknowledgement.
		this.#socket.setNoDelay(true);
		this.#socket.once(secure ? "secureConnect" : "connect", () => this.#send(connectPacket(options)));
		this.#socket.on("data", (data) => this.#parser.parse(data));
		this.#socket.on("error", (error: NodeJS.ErrnoException) => this.#end("error", error.message || error.code));
		this.#socket.on("close", () => this.#end("closed"));
		this.#parser.on("packet", (packet) => this.#receive(packet, options));
		this.#parser.on("error", (error: Error) => this.#fail(error.message));
	}

	write([first]: readonly unknown[], bytes: Uint8Array): void {
		const options = first as WriteOptions | null;
		const operation = options === null ? PUBLISH : (options.operation ?? PUBLISH);
		switch (operation) {
			case PUBLISH:
				this.#publish(options, bytes);
				break;
			case SUBSCRIBE:
				this.#subscribe((options as WriteOptions).items);
				break;
			case PINGREQ:
				this.#send({ cmd: "pingreq" });
				break;
			case DISCONNECT:
				this.#send({ cmd: "disconnect" });
				break;
		}
	}

	pause(): void {
		this.#socket.pause();
	}

	resume(): void {
		this.#socket.resume();
	}

	destroy(): void {
		this.#socket.destroy();
	}

	close(): void {
		clearInterval(this.#keepAliveTimer);
		this.#socket.end();
	}

	/** A message may arrive in parts; each part but the last makes room for the next at once. */
	#publish(options: WriteOptions | null, bytes: Uint8Array): void {
		if (options !== null) {
			this.#message = { options, parts: [], remaining: options.byteLength ?? bytes.byteLength };
		}
		const message = this.#message;
		if (message === undefined) {
			return;
		}
		message.parts.push(bytes);
		message.remaining -= bytes.byteLength;
		if (message.remaining > 0) {
			this.#tell("writable", [bytes.byteLength]);
			return;
		}
		this.#message = undefined;
		const { topic, QoS: qos = 0 } = message.options;
		const payload = Buffer.concat(message.parts);
		const packet: Packet = { cmd: "publish", topic, payload, qos, dup: false, retain: false };
		this.#tell("message", [{ from: "device", topic }], payload);
		this.#send(qos === 0 ? packet : { ...packet, messageId: this.#nextId() }, () =>
			this.#tell("writable", [bytes.byteLength]),
		);
	}

	#subscribe(items: WriteOptions["items"]): void {
		const subscriptions = items.map(({ topic, QoS: qos }) => ({ topic, qos }));
		this.#send({ cmd: "subscribe", messageId: this.#nextId(), subscriptions });
	}

	#receive(packet: Packet, { keepAlive }: OpenOptions): void {
		switch (packet.cmd) {
			case "connack":
				if (packet.returnCode === 0) {
					this.#keepAlive(keepAlive);
					this.#tell("writable", [SEND_WINDOW]);
				} else {
					this.#fail(describeReturnCode(packet.returnCode ?? 0));
				}
				break;
			case "publish":
				this.#arrive(packet.topic, Buffer.from(packet.payload), packet.qos);
				if (packet.qos === 1 && packet.messageId !== undefined) {
					this.#send({ cmd: "puback", messageId: packet.messageId });
				}
				break;
			case "suback":
				this.#tell("control", [{ operation: SUBACK, id: packet.messageId, payload: packet.granted }]);
				break;
			case "puback":
				this.#tell("control", [{ operation: PUBACK, id: packet.messageId }]);
				break;
			case "pingresp":
				this.#tell("control", [{ operation: PINGRESP }]);
				break;
			default:
				this.#fail(`the broker sent ${packet.cmd}, which is not for a client`);
		}
	}

	#arrive(topic: string, payload: Buffer, qos: number): void {
		this.#tell("message", [{ from: "backend", topic }], payload);
		let first: object = { topic, byteLength: payload.byteLength, QoS: qos };
		for (const [part, more] of splitIntoParts(payload)) {
			this.#tell("data", [{ ...first, more }], part);
			first = {};
		}
	}

	/** MQTT 3.1.1 §3.1.2.10: the client pings in time, and expects the broker to answer before it is time again. */
	#keepAlive(keepAlive: number): void {
		if (keepAlive === 0) {
			return;
		}
		let answered = true;
		this.#parser.on("packet", () => {
			answered = true;
		});
		this.#keepAliveTimer = setInterval(() => {
			if (!answered) {
				this.#fail("the broker does not answer");
				return;
			}
			answered = false;
			this.#send({ cmd: "pingreq" });
		}, keepAlive * 0.75);
	}

	#send(packet: Packet, written?: () => void): void {
		this.#socket.write(mqttPacket.generate(packet), () => written?.());
	}

	#nextId(): number {
		this.#lastId = (this.#lastId % 65_535) + 1;
		return this.#lastId;
	}

	#fail(message: string): void {
		this.#end("error", message);
		this.#socket.destroy();
	}

	#end(kind: "closed" | "error", message?: string): void {
		clearInterval(this.#keepAliveTimer);
		this.#tell(kind, [message]);
	}
}

/** Why a broker rejected a connection: MQTT 3.1.1 §3.2.2.3. */
function describeReturnCode(code: number): string {
	return code === 4 || code === 5
		? "user name or password rejected"
		: `the broker rejected the connection, code ${code}`;
}

function connectPacket({ clientId, user, password, keepAlive, will }: OpenOptions): IConnectPacket {
	return {
		cmd: "connect",
		protocolId: "MQTT",
		protocolVersion: 4,
		clean: true,
		clientId,
		keepalive: Math.ceil(keepAlive / 1000),
		...(user !== undefined && { username: user }),
		...(password !== undefined && { password: Buffer.from(password) }),
		...(will && {
			will: { topic: will.topic, payload: Buffer.from(will.message), qos: will.QoS, retain: will.retain },
		}),
	};
}
