import { isObject } from "../../../src/text/is-object.js";
import type { ServerRegistry } from "../servers/registry.js";
import type { ServerIdentity } from "../servers/session.js";
import type { Admission } from "./admission.js";
import { DeviceTransport } from "./device-transport.js";
import { EmbeddedBroker, type EmbeddedBrokerOptions } from "./embedded-broker.js";
import { ExternalBroker, type ExternalBrokerOptions } from "./external-broker.js";
import { type DeviceHello, helloAnswer, readHello } from "./hello.js";
import { type DeviceMessage, parseMessage } from "./messages.js";
import type { MqttBus, MqttBusEvents } from "./mqtt-bus.js";

/** Accepts devices over MQTT. A device is identified by its client id. */
export class MqttDevices {
	readonly #servers: ServerRegistry;
	/** The devices in a session, by client id: an MQTT message does not say which connection it came from. */
	readonly #transports = new Map<string, DeviceMqttTransport>();
	#bus!: MqttBus;

	private constructor(servers: ServerRegistry) {
		this.#servers = servers;
	}

	/** With the gateway's own broker. Rejects if the port is in use. Resolves with the port too. */
	static async listen(
		servers: ServerRegistry,
		options: EmbeddedBrokerOptions,
	): Promise<{ devices: MqttDevices; port: number }> {
		const devices = new MqttDevices(servers);
		const broker = await EmbeddedBroker.listen(options, devices.#events());
		devices.#bus = broker;
		return { devices, port: broker.port };
	}

	/** With another broker. Rejects if it cannot be reached. */
	static async connect(servers: ServerRegistry, options: ExternalBrokerOptions): Promise<MqttDevices> {
		const devices = new MqttDevices(servers);
		devices.#bus = await ExternalBroker.connect(options, devices.#events());
		return devices;
	}

	/** Disconnects the devices that would no longer be admitted, whether or not they have said hello. */
	recheck(stillAdmits: (admission: Admission) => boolean): void {
		this.#bus.recheck(stillAdmits);
	}

	/** Says goodbye to every device and disconnects from the broker. */
	async close(): Promise<void> {
		for (const transport of [...this.#transports.values()]) {
			void transport.close("the gateway is shutting down");
		}
		await this.#bus.close();
	}

	#events(): MqttBusEvents {
		return {
			onMessage: (clientId, text, admission) => this.#receive(clientId, text, admission),
			onDisconnected: (clientId) => this.#transports.get(clientId)?.ended("the device disconnected from the broker"),
			onBrokerLost: (reason) => {
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
			this.#servers.reject(`${clientId}: a message was dropped: ${(error as Error).message}`);
			return;
		}
		const transport = this.#transports.get(clientId);
		if (message.type === "hello") {
			this.#begin({ id: clientId, clientId, transport: "mqtt", ...admission }, message);
		} else if (transport !== undefined) {
			transport.receive(message);
		} else if (message.type !== "goodbye") {
			// The device believes that it is in a session which this gateway does not know: it begins a new one.
			const { session_id } = message;
			this.#send(clientId, { type: "goodbye", ...(session_id !== undefined && { session_id }) });
		}
	}

	#begin(identity: ServerIdentity, hello: DeviceMessage): void {
		const { id } = identity;
		let deviceHello: DeviceHello;
		try {
			deviceHello = readHello(hello, "mqtt");
		} catch (error) {
			this.#servers.reject(`${id}: ${(error as Error).message}`);
			return;
		}
		this.#transports.get(id)?.ended("the device has connected again");
		const transport: DeviceMqttTransport = new DeviceMqttTransport(identity, deviceHello, {
			write: (text) => this.#bus.send(id, text),
			onEnded: () => this.#transports.delete(id),
		});
		this.#transports.set(id, transport);
		this.#send(id, helloAnswer("mqtt", transport.deviceSessionId));
		this.#servers.connect(transport);
	}

	#send(clientId: string, message: object): void {
		this.#bus.send(clientId, JSON.stringify(message));
	}
}

interface DeviceMqttOptions {
	readonly write: (text: string) => void;
	readonly onEnded: () => void;
}

/** Milliseconds that a device has to prove that it is still in its session. */
const PROOF_TIMEOUT = 3_000;

/** The id of the ping that asks for that proof. The SDK's own ids are numbers. */
const PROOF_ID = "still-there";

/** A session of a device's over MQTT, from hello to goodbye. The device's connection to the broker may outlive it. */
export class DeviceMqttTransport extends DeviceTransport {
	readonly #options: DeviceMqttOptions;
	#proofTimer: NodeJS.Timeout | undefined;

	constructor(identity: ServerIdentity, hello: DeviceHello, options: DeviceMqttOptions) {
		super(identity, hello);
		this.#options = options;
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
		this.#options.onEnded();
		super.ended(reason);
	}

	protected override write(text: string): void {
		this.#options.write(text);
	}

	protected override disconnect(): void {
		this.sendMessage({ type: "goodbye" });
	}

	/**
	 * A goodbye without a session id is the last will, which a broker sends for a device that has disconnected. It may be
	 * late, and the device may have connected again: a ping finds out.
	 */
	protected override goodbye(isForSession: boolean): void {
		if (isForSession) {
			super.goodbye(isForSession);
			return;
		}
		clearTimeout(this.#proofTimer);
		this.#proofTimer = setTimeout(() => this.ended("the device has disconnected"), PROOF_TIMEOUT);
		void this.send({ jsonrpc: "2.0", id: PROOF_ID, method: "ping" });
	}
}

/** Whether this is the answer to the ping that asks a device whether it is still in its session. */
function isProof({ type, payload }: DeviceMessage): boolean {
	return type === "mcp" && isObject(payload) && payload.id === PROOF_ID && payload.method === undefined;
}
