import type { FirmwareOptions } from "../../src/app/firmware-backend.js";
import { startFirmware } from "../../src/app/start-firmware.js";
import { ADDONS } from "./addons.js";
import { FakeBoard } from "./fake-board.js";
import { FakeMqttClient, FakeWebSocketClient } from "./fake-clients.js";
import { FakeHttpClient } from "./fake-http-client.js";
import { FakeTimer } from "./fake-timer.js";

/** The firmware as `main.ts` starts it, for a backend at ws://h/, on a network of fake clients. */
export function startOn({
	built,
	timer = new FakeTimer(),
	...options
}: Partial<FirmwareOptions> & { timer?: FakeTimer }) {
	const log: string[] = [];
	const first = FakeWebSocketClient.made.length;
	const application = startFirmware({
		board: new FakeBoard(),
		built: { backend: "ws://h/", ...built },
		openNetwork: () => ({
			ws: { io: FakeWebSocketClient },
			mqtt: { io: FakeMqttClient },
			http: { io: FakeHttpClient },
		}),
		...ADDONS,
		timer,
		log: (line) => log.push(line),
		...options,
	});
	const sockets = (): FakeWebSocketClient[] => FakeWebSocketClient.made.slice(first);
	const greet = (sessionId = "s-1"): FakeWebSocketClient => {
		const socket = FakeWebSocketClient.made.at(-1) as FakeWebSocketClient;
		socket.grant(10_000);
		socket.arrive([`{"type":"hello","transport":"websocket","session_id":"${sessionId}"}`]);
		return socket;
	};
	return { application, timer, log, sockets, greet };
}
