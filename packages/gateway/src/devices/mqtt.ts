import type { TlsOptions } from "node:tls";
import { ServerError, type ServerIdentity, type ServerRegistry } from "xs-mcp-manager/core";
import { deviceIdOf } from "../config/device-id.js";
import { isObject } from "../firmware.js";
import type { Admission, DeviceListenerOptions } from "./admission.js";
import { DeviceConnection } from "./device-connection.js";
import type { ExternalBrokerOptions } from "./external-broker.js";
import { type DeviceHello, type DeviceMessage, mqttHelloAnswer, NO_HELLO, parseMessage, readHello } from "./hello.js";
import type { MqttBus, MqttBusEvents } from "./mqtt-bus.js";
import type { UdpChannel, UdpChannels } from "./udp-channels.js";

/**
 * Milliseconds that a device has for its hello. Some send it only when a conversation starts: they get a session
 * without.
 */
const HELLO_TIMEOUT = 2_000;

/** Accepts devices over MQTT; loads its own broker, or the client of another one, on use. A device is identified by its client id. */
export class MqttDevices implements MqttBusEvents {
	readonly #servers: ServerRegistry;
	readonly #channels: UdpChannels;
	/** The sessions, by client id: an MQTT message does not say which connection it came from. */
	readonly #connections = new Map<string, DeviceConnection>();
	/** The clients of the gateway's own broker. */
	readonly #connected = new Set<string>();
	/** The devices whose hello is still expected, by client id. */
	readonly #helloTimers = new Map<string, NodeJS.Timeout>();
	#bus!: MqttBus;

	private constructor(servers: ServerRegistry, channels: UdpChannels) {
		this.#servers = servers;
		this.#channels = channels;
	}

	/**
	 * With the gateway's own broker. Rejects if the port is in use. Resolves with the port too.
	 *
	 * @param channels for audio. They are the caller's to close
	 */
	static async listen(
		servers: ServerRegistry,
		options: DeviceListenerOptions,
		channels: UdpChannels,
	): Promise<{ devices: MqttDevices; port: number }> {
		const { EmbeddedBroker } = await import("./embedded-broker.js");
		const devices = new MqttDevices(servers, channels);
		const broker = await EmbeddedBroker.listen(options, devices);
		devices.#bus = broker;
		return { devices, port: broker.port };
	}

	/** With another broker. Rejects if it cannot be reached. */
	static async connect(
		servers: ServerRegistry,
		options: ExternalBrokerOptions,
		channels: UdpChannels,
	): Promise<MqttDevices> {
		const { ExternalBroker } = await import("./external-broker.js");
		const devices = new MqttDevices(servers, channels);
		devices.#bus = await ExternalBroker.connect(options, devices);
		return devices;
	}

	/** Disconnects the devices that would no longer be admitted, whether or not they have said hello. */
	recheck(stillAdmits: (admission: Admission) => boolean): void {
		this.#bus.recheck(stillAdmits);
	}

	/** Makes the gateway's own broker use another key and certificate for new connections. */
	renewTls(tls: TlsOptions): void {
		this.#bus.renewTls?.(tls);
	}

	/** Says goodbye to every device and disconnects from the broker. */
	async close(): Promise<void> {
		for (const connection of [...this.#connections.values()]) {
			connection.close("the gateway is shutting down");
		}
		await this.#bus.close();
		this.#stopAwaitingAll();
	}

	onConnected(clientId: string, admission: Admission): void {
		this.#connected.add(clientId);
		this.#awaitHello(identityOf(clientId, admission));
	}

	onDisconnected(clientId: string): void {
		this.#connected.delete(clientId);
		this.#stopAwaiting(clientId);
		this.#connections.get(clientId)?.ended("the device disconnected from the broker");
	}

	onBrokerLost(reason: string): void {
		this.#stopAwaitingAll();
		for (const connection of [...this.#connections.values()]) {
			connection.ended(reason);
		}
	}

	onRejected(description: string): void {
		this.#servers.reject(description);
	}

	onMessage(clientId: string, text: string, admission: Admission): void {
		let message: DeviceMessage;
		try {
			message = parseMessage(text);
		} catch (error) {
			this.#servers.reject(`${clientId}: message dropped: ${(error as Error).message}`);
			return;
		}
		const connection = this.#connections.get(clientId);
		if (message.type === "hello") {
			this.#greet(identityOf(clientId, admission), message);
		} else if (connection !== undefined) {
			connection.receive(message);
		} else if (!isLate(message) && !this.#helloTimers.has(clientId)) {
			// The device believes to be in a session that this gateway does not know, so it has to start a new one.
			const { session_id } = message;
			this.#send(clientId, { type: "goodbye", session_id });
			this.#awaitHello(identityOf(clientId, admission));
		}
	}

	/** MCP needs no hello: a device without one in time still gets a session. */
	#awaitHello(identity: ServerIdentity): void {
		const { clientId: id } = identity;
		this.#stopAwaiting(id);
		const begin = (): void => {
			this.#helloTimers.delete(id);
			if (!this.#connections.has(id)) {
				this.#servers.connect(this.#open(identity, NO_HELLO).connection);
			}
		};
		this.#helloTimers.set(id, setTimeout(begin, HELLO_TIMEOUT));
	}

	#stopAwaiting(clientId: string): void {
		clearTimeout(this.#helloTimers.get(clientId));
		this.#helloTimers.delete(clientId);
	}

	#stopAwaitingAll(): void {
		for (const clientId of [...this.#helloTimers.keys()]) {
			this.#stopAwaiting(clientId);
		}
	}

	#greet(identity: ServerIdentity, message: DeviceMessage): void {
		const { clientId: id } = identity;
		this.#stopAwaiting(id);
		try {
			const hello = readHello(message);
			const { connection, channel } = this.#open(identity, hello);
			this.#send(id, mqttHelloAnswer(connection.sessionId, channel?.offer));
			this.#servers.connect(connection);
		} catch (error) {
			this.#servers.reject(`${id}: ${(error as Error).message}`);
		}
	}

	/** Starts a session, and ends the previous one. */
	#open(identity: ServerIdentity, hello: DeviceHello): { connection: DeviceConnection; channel?: UdpChannel } {
		const { clientId: id } = identity;
		const isGreeted = hello !== NO_HELLO;
		this.#connections.get(id)?.ended("the device has reconnected");
		const onDropped = (reason: string): void => connection.reject(`audio dropped: ${reason}`);
		const channel =
			isGreeted && hello.transport !== "mqtt"
				? this.#channels.open(this.#bus.localAddressOf?.(id), hello.listensOnRequest, onDropped)
				: undefined;
		let isProving = false;
		const connection: DeviceConnection = new DeviceConnection(identity, hello, {
			// A device that does not know this session's id may use an earlier one.
			isShared: isGreeted,
			audio: hello.playsOpus ? channel?.link : undefined,
			write: (text) => this.#bus.send(id, text),
			disconnect: () => connection.send({ type: "goodbye" }),
			onEnded: () => {
				channel?.close();
				this.#connections.delete(id);
			},
			onGoodbye: (namesSession) => {
				if (namesSession) {
					connection.ended("the device said goodbye");
					// With an external broker, the device's connection state is unknown.
					if (this.#connected.has(id)) {
						this.#awaitHello(identity);
					}
				} else if (!isProving) {
					isProving = true;
					void prove(connection).finally(() => {
						isProving = false;
					});
				}
			},
		});
		this.#connections.set(id, connection);
		return { connection, ...(channel && { channel }) };
	}

	#send(clientId: string, message: object): void {
		this.#bus.send(clientId, JSON.stringify(message));
	}
}

function identityOf(clientId: string, admission: Admission): ServerIdentity {
	return { id: deviceIdOf(clientId), clientId, transport: "mqtt", ...admission };
}

/** Milliseconds that a device has to prove that it is still in its session. */
const PROOF_TIMEOUT = 3_000;

/**
 * Ends a session unless its device answers a ping. A goodbye without a session id is the last will, which a broker sends for a
 * device that has disconnected. It may be late, after the device has reconnected.
 */
async function prove(connection: DeviceConnection): Promise<void> {
	try {
		await connection.ping(PROOF_TIMEOUT);
	} catch (error) {
		// A device that answers with an error is still there.
		if (error instanceof ServerError && error.code === "timeout") {
			connection.ended("the device has disconnected");
		}
	}
}

/** Whether a message without a session belongs to one that the device has ended: a goodbye, or a response. */
function isLate({ type, payload }: DeviceMessage): boolean {
	return type === "goodbye" || (type === "mcp" && isObject(payload) && !("method" in payload));
}
