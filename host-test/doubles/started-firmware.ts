import { Application, type Host } from "../../src/core/application.js";
import type { Feature } from "../../src/core/listener.js";
import { FakeBoard } from "./fake-board.js";
import { FakeMqttClient, FakeWebSocketClient } from "./fake-clients.js";
import { FakeHttpClient } from "./fake-http-client.js";
import { FakeTimer } from "./fake-timer.js";
import { FEATURES } from "./features.js";
import { TOOLS } from "./tools.js";

interface Choice extends Partial<Host> {
	readonly timer?: FakeTimer;
	/** Besides those of a usual build. */
	readonly features?: readonly Feature[];
}

/** The firmware as `main.ts` starts it, for a backend at ws://h/, on a network of fake clients. */
export function startOn({ built, timer = new FakeTimer(), features = [], ...host }: Choice) {
	const log: string[] = [];
	const first = FakeWebSocketClient.made.length;
	const application = new Application({
		board: new FakeBoard(),
		built: { backend: "ws://h/", ...built },
		openNetwork: () => ({
			ws: { io: FakeWebSocketClient },
			mqtt: { io: FakeMqttClient },
			http: { io: FakeHttpClient },
		}),
		tools: TOOLS,
		timer,
		log: (line) => log.push(line),
		...host,
	});
	application.start([...FEATURES, ...features]);
	const sockets = (): FakeWebSocketClient[] => FakeWebSocketClient.made.slice(first);
	const greet = (sessionId = "s-1"): FakeWebSocketClient => {
		const socket = FakeWebSocketClient.made.at(-1) as FakeWebSocketClient;
		socket.grant(10_000);
		socket.arrive([`{"type":"hello","transport":"websocket","session_id":"${sessionId}"}`]);
		return socket;
	};
	return { application, timer, log, sockets, greet };
}
