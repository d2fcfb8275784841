import { decodeEnvelope, type Envelope } from "../../../src/protocols/envelope.js";
import { Device } from "../servers/device.js";
import type { DeviceHub } from "../servers/device-hub.js";
import { EmbeddedBroker, type EmbeddedBrokerOptions } from "./embedded-broker.js";
import { ExternalBroker, type ExternalBrokerOptions } from "./external-broker.js";
import { answerHello } from "./hello.js";
import { receiveFromDevice } from "./messages.js";
import type { MqttBus, MqttBusEvents } from "./mqtt-bus.js";

/** Accepts devices over MQTT and puts them into the hub. A device is told apart by its client id. */
export class MqttDevices {
	readonly #hub: DeviceHub;
	readonly #devices = new Map<string, Device>();
	#bus!: MqttBus;

	private constructor(hub: DeviceHub) {
		this.#hub = hub;
	}

	/** With a broker of our own. Rejects when the port is taken. Resolves with the port too. */
	static async listen(hub: DeviceHub, options: EmbeddedBrokerOptions): Promise<{ devices: MqttDevices; port: number }> {
		const devices = new MqttDevices(hub);
		const broker = await EmbeddedBroker.listen(options, devices.#events());
		devices.#bus = broker;
		return { devices, port: broker.port };
	}

	/** With another's broker. Rejects when it cannot be reached. */
	static async connect(hub: DeviceHub, options: ExternalBrokerOptions): Promise<MqttDevices> {
		const devices = new MqttDevices(hub);
		devices.#bus = await ExternalBroker.connect(options, devices.#events());
		return devices;
	}

	/** Says goodbye to every device and lets go of the broker. */
	async close(): Promise<void> {
		for (const device of [...this.#devices.values()]) {
			device.close("the gateway is shutting down");
		}
		await this.#bus.close();
	}

	#events(): MqttBusEvents {
		return {
			onMessage: (clientId, text) => this.#receive(clientId, text),
			onGone: (clientId) => this.#devices.get(clientId)?.ended("the device left the broker"),
			onBrokerLost: (reason) => {
				for (const device of [...this.#devices.values()]) {
					device.ended(reason);
				}
			},
			onRefused: (description) => this.#hub.refused(description),
		};
	}

	#receive(clientId: string, text: string): void {
		let envelope: Envelope;
		try {
			envelope = decodeEnvelope(text);
		} catch (error) {
			this.#hub.refused(`${clientId}: message dropped: ${(error as Error).message}`);
			return;
		}
		const device = this.#devices.get(clientId);
		if (envelope.type === "hello") {
			this.#begin(clientId, envelope);
		} else if (device !== undefined) {
			receiveFromDevice(this.#hub, device, envelope);
		} else if (envelope.type !== "goodbye") {
			// A device that believes in a session of which this gateway knows nothing begins a new one.
			this.#send(clientId, {
				type: "goodbye",
				...(envelope.session_id !== undefined && { session_id: envelope.session_id }),
			});
		}
	}

	#begin(clientId: string, hello: Envelope): void {
		let greeting: ReturnType<typeof answerHello>;
		try {
			greeting = answerHello(hello, "mqtt");
		} catch (error) {
			this.#hub.refused(`${clientId}: ${(error as Error).message}`);
			return;
		}
		this.#devices.get(clientId)?.ended("the device has connected again");
		const { sessionId, answer } = greeting;
		const device = new Device({
			identity: { deviceId: clientId, clientId, transport: "mqtt" },
			sessionId,
			send: (message) => this.#send(clientId, message),
			close: () => this.#send(clientId, { session_id: sessionId, type: "goodbye" }),
		});
		this.#devices.set(clientId, device);
		device.once("closed", () => {
			if (this.#devices.get(clientId) === device) {
				this.#devices.delete(clientId);
			}
		});
		this.#send(clientId, answer);
		this.#hub.add(device);
	}

	#send(clientId: string, message: object): void {
		this.#bus.send(clientId, JSON.stringify(message));
	}
}
