import type { HttpClients } from "../../../src/protocols/http-client.js";
import type { NetworkClients } from "../../../src/protocols/transport.js";
import { HTTPClient } from "./http-client.js";
import { MQTTClient } from "./mqtt-client.js";
import { WebSocketClient } from "./websocket-client.js";

/** The virtual device's network clients, as ECMA-419's records. */
const network = {
	ws: { io: WebSocketClient },
	wss: { io: WebSocketClient, secure: true },
	mqtt: { io: MQTTClient },
	mqtts: { io: MQTTClient, secure: true },
	http: { io: HTTPClient },
	https: { io: HTTPClient, secure: true },
};

export function openNetwork(): NetworkClients & HttpClients {
	return network;
}
