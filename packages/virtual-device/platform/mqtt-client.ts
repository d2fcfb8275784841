import type { MqttClient, MqttClientOptions } from "../../../src/protocols/mqtt-channel.js";
import { receive } from "./bridge.js";
import { clientOf, NetworkClient, type Secure, serve } from "./network-client.js";

interface Part {
	readonly more: boolean;
	/** With the first part of a message. */
	readonly topic?: string;
	readonly byteLength?: number;
	readonly QoS?: number;
}

const PUBLISH = 3;

/**
 * Stands in for ECMA-419's MQTT client (`embedded:network/mqtt/client`): Node makes and reads the packets with
 * `mqtt-packet`.
 */
export class MQTTClient extends NetworkClient<Part> {
	readonly #options: MqttClientOptions & Secure;
	/** Bytes of the current message still to write. */
	#remaining = 0;

	constructor(options: MqttClientOptions & Secure) {
		super("mqtt", options);
		this.#options = options;
		const { host, port, id: clientId, user, password, keepAlive, will, secure = false } = options;
		this.tell("open", { host, port, clientId, user, password, keepAlive, will, secure });
	}

	/** Rejects anything but further parts while a message is incomplete. */
	write(...[data, options]: Parameters<MqttClient["write"]>): number {
		const bytes = data.byteLength;
		this.expectRoom(bytes);
		if (options === undefined) {
			if (bytes > this.#remaining) {
				throw new Error(`${bytes} bytes written where ${this.#remaining} of the message are left`);
			}
			this.#remaining -= bytes;
		} else if (this.#remaining > 0) {
			throw new Error("a message is not whole yet");
		} else if ((options.operation ?? PUBLISH) === PUBLISH) {
			this.#remaining = (options.byteLength ?? bytes) - bytes;
		}
		return this.writeBytes(data, options ?? null);
	}

	/** @internal A packet other than a message. */
	control(message: object): void {
		this.#options.onControl(message);
	}
}

serve("mqtt");
receive("mqtt.control", ([id, message]) => clientOf<MQTTClient>(id)?.control(message as object));
