import { connect as connectTcp, isIP } from "node:net";
import { connect as connectTls } from "node:tls";
import mqttPacket, { type IConnectPacket, type Packet } from "mqtt-packet";
import type { MqttClientOptions } from "xs-mcp-firmware/protocols/mqtt-channel";
import { type Open, SEND_WINDOW, splitIntoParts, type Tell } from "./service.js";

interface Connect extends Omit<MqttClientOptions, "id" | `on${string}`> {
	readonly clientId: string;
	readonly secure: boolean;
}

interface Write {
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
export const openMqtt: Open = ([first], tell) => {
	const options = first as Connect;
	const { host, port, secure } = options;
	const socket = secure
		? connectTls({ host, port, ...(isIP(host) === 0 && { servername: host }) })
		: connectTcp({ host, port });
	const parser = mqttPacket.parser({ protocolVersion: 4 });
	let message: { readonly head: Write; readonly parts: Uint8Array[]; remaining: number } | undefined;
	let lastId = 0;
	let keepAliveTimer: NodeJS.Timeout | undefined;

	const nextId = (): number => {
		lastId = (lastId % 65_535) + 1;
		return lastId;
	};
	const send = (packet: Packet, written?: () => void): void => {
		socket.write(mqttPacket.generate(packet), () => written?.());
	};
	const end = (kind: "closed" | "error", reason?: string): void => {
		clearInterval(keepAliveTimer);
		tell(kind, [reason]);
	};
	const fail = (reason: string): void => {
		end("error", reason);
		socket.destroy();
	};

	/** A message may arrive in parts; each part but the last makes room for the next at once. */
	const publish = (head: Write | null, bytes: Uint8Array): void => {
		if (head !== null) {
			message = { head, parts: [], remaining: head.byteLength ?? bytes.byteLength };
		}
		if (message === undefined) {
			return;
		}
		const written = (): void => tell("writable", [bytes.byteLength]);
		message.parts.push(bytes);
		message.remaining -= bytes.byteLength;
		if (message.remaining > 0) {
			written();
			return;
		}
		const { topic, QoS: qos = 0 } = message.head;
		const payload = Buffer.concat(message.parts);
		message = undefined;
		const packet: Packet = { cmd: "publish", topic, payload, qos, dup: false, retain: false };
		tell("message", [{ from: "device", topic }], payload);
		send(qos === 0 ? packet : { ...packet, messageId: nextId() }, written);
	};

	/** MQTT 3.1.1 §3.1.2.10: the client pings in time, and expects the broker to answer before it is time again. */
	const keepAlive = (): void => {
		if (options.keepAlive === 0) {
			return;
		}
		let answered = true;
		parser.on("packet", () => {
			answered = true;
		});
		keepAliveTimer = setInterval(() => {
			if (!answered) {
				fail("the broker does not answer");
				return;
			}
			answered = false;
			send({ cmd: "pingreq" });
		}, options.keepAlive * 0.75);
	};

	const receive = (packet: Packet): void => {
		switch (packet.cmd) {
			case "connack":
				if (packet.returnCode === 0) {
					keepAlive();
					tell("writable", [SEND_WINDOW]);
				} else {
					fail(describeReturnCode(packet.returnCode ?? 0));
				}
				break;
			case "publish":
				arrive(packet.topic, Buffer.from(packet.payload), packet.qos, tell);
				if (packet.qos === 1 && packet.messageId !== undefined) {
					send({ cmd: "puback", messageId: packet.messageId });
				}
				break;
			case "suback":
				tell("control", [{ operation: SUBACK, id: packet.messageId, payload: packet.granted }]);
				break;
			case "puback":
				tell("control", [{ operation: PUBACK, id: packet.messageId }]);
				break;
			case "pingresp":
				tell("control", [{ operation: PINGRESP }]);
				break;
			default:
				fail(`the broker sent ${packet.cmd}, which is not for a client`);
		}
	};

	// As with a WebSocket: a small packet does not wait for the previous acknowledgement.
	socket.setNoDelay(true);
	socket.once(secure ? "secureConnect" : "connect", () => send(connectPacket(options)));
	socket.on("data", (data) => parser.parse(data));
	socket.on("error", (error: NodeJS.ErrnoException) => end("error", error.message || error.code));
	socket.on("close", () => end("closed"));
	parser.on("packet", receive);
	parser.on("error", (error: Error) => fail(error.message));
	return {
		write([first], bytes) {
			const head = first as Write | null;
			switch (head?.operation ?? PUBLISH) {
				case PUBLISH:
					publish(head, bytes);
					break;
				case SUBSCRIBE: {
					const subscriptions = (head as Write).items.map(({ topic, QoS: qos }) => ({ topic, qos }));
					send({ cmd: "subscribe", messageId: nextId(), subscriptions });
					break;
				}
				case PINGREQ:
					send({ cmd: "pingreq" });
					break;
				case DISCONNECT:
					send({ cmd: "disconnect" });
					break;
			}
		},
		pause: () => socket.pause(),
		resume: () => socket.resume(),
		close() {
			clearInterval(keepAliveTimer);
			socket.end();
		},
		destroy: () => socket.destroy(),
	};
};

function arrive(topic: string, payload: Buffer, qos: number, tell: Tell): void {
	tell("message", [{ from: "backend", topic }], payload);
	let first: object = { topic, byteLength: payload.byteLength, QoS: qos };
	for (const [part, more] of splitIntoParts(payload)) {
		tell("data", [{ ...first, more }], part);
		first = {};
	}
}

/** Why a broker rejected a connection: MQTT 3.1.1 §3.2.2.3. */
function describeReturnCode(code: number): string {
	return code === 4 || code === 5
		? "user name or password rejected"
		: `the broker rejected the connection, code ${code}`;
}

function connectPacket({ clientId, user, password, keepAlive, will }: Connect): IConnectPacket {
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
