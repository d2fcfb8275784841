import { readConfig } from "../../src/core/settings/config.js";
import type { TransportOptions } from "../../src/protocols/transport.js";
import { FakeMqttClient, FakeWebSocketClient } from "./fake-clients.js";

/** The options of a transport to this backend, as the firmware makes them of its settings. */
export function optionsFor(backend: string, options: Partial<TransportOptions>): TransportOptions {
	return {
		...readConfig({ built: { backend, clientId: "dev-1" }, settings: undefined }, ""),
		deviceId: "02:00:00:00:00:01",
		uuid: "uuid",
		network: { ws: { io: FakeWebSocketClient }, mqtt: { io: FakeMqttClient } },
		maxMessageBytes: 65_536,
		maxQueuedBytes: 65_536,
		log() {},
		...options,
	};
}
