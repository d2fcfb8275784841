import { HTTPClient } from "./http-client.js";
import { MQTTClient } from "./mqtt-client.js";
import { openUdp } from "./udp-audio.js";
import { WebSocketClient } from "./websocket-client.js";

/** The virtual device's network clients, as ECMA-419's records. */
const network = {
	ws: { io: WebSocketClient },
	wss: { io: WebSocketClient, secure: true },
	mqtt: { io: MQTTClient },
	mqtts: { io: MQTTClient, secure: true },
	http: { io: HTTPClient },
	https: { io: HTTPClient, secure: true },
	openUdp,
};

export function openNetwork(): typeof network {
	return network;
}
