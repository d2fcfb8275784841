import type { TlsOptions } from "node:tls";
import type { ServerIdentity, ServerRegistry } from "xs-mcp-manager/core";
import { deviceIdOf } from "../config/device-id.js";
import { isObject } from "../firmware.js";
import type { Admission, DeviceListenerOptions } from "./admission.js";
import type { AudioLink } from "./audio-link.js";
import { DeviceTransport } from "./device-transport.js";
import type { ExternalBrokerOptions } from "./external-broker.js";
import { type DeviceHello, mqttHelloAnswer, NO_HELLO, readHello } from "./hello.js";
import { type DeviceMessage, parseMessage } from "./messages.js";
import type { MqttBus, MqttBusEvents } from "./mqtt-bus.js";
import type { ChannelOptions, UdpChannel, UdpChannels } from "./udp-channels.js";

/**
 * Milliseconds that a device has for its hello. Some send it only when a conversation starts: they get a session
 * without.
 */
const HELLO_TIMEOUT = 2_000;

/** Accepts devices over MQTT; loads its own broker, or the client of another one, on use. A device is identified by its client id. */
export class MqttDevices {
	readonly #servers: ServerRegistry;
	readonly #channels: UdpChannels;
	/** The devices in a session, by client id: an MQTT message does not say which connection it came from. */
	readonly #transports = new Map<string, DeviceMqttTransport>();
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
		const broker = await EmbeddedBroker.listen(options, devices.#events());
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
		devices.#bus = await ExternalBroker.connect(options, devices.#events());
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
		for (const transport of [...this.#transports.values()]) {
			void transport.close("the gateway is shutting down");
		}
		await this.#bus.close();
		this.#stopAwaitingAll();
	}

	#events(): MqttBusEvents {
		return {
			onMessage: (clientId, text, admission) => this.#receive(clientId, text, admission),
			onConnected: (clientId, admission) => {
				this.#connected.add(clientId);
				this.#awaitHello(identityOf(clientId, admission));
			},
			onDisconnected: (clientId) => {
				this.#connected.delete(clientId);
				this.#stopAwaiting(clientId);
				this.#transports.get(clientId)?.ended("the device disconnected from the broker");
			},
			onBrokerLost: (reason) => {
				this.#stopAwaitingAll();
				for (const transport of [...this.#transports.values()]) {
					transport.ended(reason);
				}
			},
			onRejected: (description) => this.#servers.reject(description),
		};
	}

	#receive(clientId: string, text: string, admission: Admission): void {
		let message: DeviceMessage;
		try {
			message = parseMessage(text);
		} catch (error) {
			this.#servers.reject(`${clientId}: message dropped: ${(error as Error).message}`);
			return;
		}
		const transport = this.#transports.get(clientId);
		if (message.type === "hello") {
			this.#greet(identityOf(clientId, admission), message);
		} else if (transport !== undefined) {
			transport.receive(message);
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
			if (!this.#transports.has(id)) {
				this.#servers.connect(this.#open(identity, NO_HELLO));
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
			const transport = this.#open(identity, hello);
			this.#send(id, mqttHelloAnswer(transport.deviceSessionId, transport.channel?.offer));
			this.#servers.connect(transport);
		} catch (error) {
			this.#servers.reject(`${id}: ${(error as Error).message}`);
		}
	}

	/** Starts a session, and ends the previous one. */
	#open(identity: ServerIdentity, hello: DeviceHello): DeviceMqttTransport {
		const { clientId: id } = identity;
		this.#transports.get(id)?.ended("the device has reconnected");
		const transport: DeviceMqttTransport = new DeviceMqttTransport(identity, hello, {
			openChannel: (events) => this.#channels.open(this.#bus.localAddressOf?.(id), events),
			write: (text) => this.#bus.send(id, text),
			onEnded: () => this.#transports.delete(id),
			onGoodbye: () => {
				// With an external broker, the device's connection state is unknown.
				if (this.#connected.has(id)) {
					this.#awaitHello(identity);
				}
			},
		});
		this.#transports.set(id, transport);
		return transport;
	}

	#send(clientId: string, message: object): void {
		this.#bus.send(clientId, JSON.stringify(message));
	}
}

function identityOf(clientId: string, admission: Admission): ServerIdentity {
	return { id: deviceIdOf(clientId), clientId, transport: "mqtt", ...admission };
}

interface DeviceMqttOptions {
	readonly openChannel: (options: ChannelOptions) => UdpChannel;
	readonly write: (text: string) => void;
	readonly onEnded: () => void;
	/** The device has ended the session, and may still be connected. */
	readonly onGoodbye: () => void;
}

/** Milliseconds that a device has to prove that it is still in its session. */
const PROOF_TIMEOUT = 3_000;

/** The id of that ping. A number, because the C++ firmware answers no others; the SDK counts from 0. */
const PROOF_ID = 0x7fffffff;

/**
 * A session of a device over MQTT, from its hello, if any, to its goodbye. The device's connection to the broker may
 * outlive it.
 */
class DeviceMqttTransport extends DeviceTransport {
	/** Undefined if the device wants none, or has sent no hello. */
	readonly channel: UdpChannel | undefined;
	override readonly audio: AudioLink | undefined;
	readonly #options: DeviceMqttOptions;
	readonly #isGreeted: boolean;
	#proofTimer: NodeJS.Timeout | undefined;

	constructor(identity: ServerIdentity, hello: DeviceHello, options: DeviceMqttOptions) {
		super(identity, hello);
		this.#options = options;
		this.#isGreeted = hello !== NO_HELLO;
		const { transport, playsOpus, listensOnRequest } = hello;
		const onDropped = (reason: string): void => this.onerror?.(new Error(`audio dropped: ${reason}`));
		const hasChannel = this.#isGreeted && transport !== "mqtt";
		this.channel = hasChannel ? options.openChannel({ listensOnRequest, onDropped }) : undefined;
		this.audio = playsOpus ? this.channel?.link : undefined;
	}

	override receive(message: DeviceMessage): void {
		if (message.type !== "goodbye") {
			clearTimeout(this.#proofTimer);
		}
		if (!isProof(message)) {
			super.receive(message);
		}
	}

	override ended(reason: string): void {
		clearTimeout(this.#proofTimer);
		this.channel?.close();
		this.#options.onEnded();
		super.ended(reason);
	}

	/** A device that does not know this session's id may use an earlier one. */
	protected override isForSession(id: unknown): boolean {
		return !this.#isGreeted || super.isForSession(id);
	}

	protected override write(text: string): void {
		this.#options.write(text);
	}

	protected override disconnect(): void {
		this.sendMessage({ type: "goodbye" });
	}

	/**
	 * A goodbye without a session id is the last will, which a broker sends for a device that has disconnected. It may be
	 * late, after the device has reconnected, so a ping checks that.
	 */
	protected override goodbye(namesSession: boolean): void {
		if (namesSession) {
			super.goodbye(namesSession);
			this.#options.onGoodbye();
			return;
		}
		clearTimeout(this.#proofTimer);
		this.#proofTimer = setTimeout(() => this.ended("the device has disconnected"), PROOF_TIMEOUT);
		void this.send({ jsonrpc: "2.0", id: PROOF_ID, method: "ping" });
	}
}

/** Whether a message without a session belongs to one that the device has ended: a goodbye, or a response. */
function isLate({ type, payload }: DeviceMessage): boolean {
	return type === "goodbye" || (type === "mcp" && isObject(payload) && !("method" in payload));
}

/** Whether this is the answer to the ping that asks a device whether it is still in its session. */
function isProof({ type, payload }: DeviceMessage): boolean {
	return type === "mcp" && isObject(payload) && payload.id === PROOF_ID && payload.method === undefined;
}
