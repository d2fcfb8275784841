import type { HttpClients } from "../../../src/protocols/http-client.js";
import type { NetworkClients } from "../../../src/protocols/transport.js";
import { boot } from "./bridge.js";
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
};

/** Chips have no audio over UDP, and a virtual device has it only if its config says so. */
export function openNetwork(): NetworkClients & HttpClients {
	return boot.config.udpAudio === true ? { ...network, openUdp } : network;
}
