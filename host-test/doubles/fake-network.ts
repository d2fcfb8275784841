import { FakeMqttClient, FakeWebSocketClient } from "./fake-clients.js";
import { FakeHttpClient } from "./fake-http-client.js";

/** Opens a network of fake clients, which are in the lists `made` of their classes. */
export const openFakeNetwork = () => ({
	ws: { io: FakeWebSocketClient },
	mqtt: { io: FakeMqttClient },
	http: { io: FakeHttpClient },
});
