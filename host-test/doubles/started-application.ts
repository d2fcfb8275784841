import { Application, type Host } from "../../src/core/application.js";
import type { Feature, Listener } from "../../src/core/listener.js";
import { bootstrapFeature } from "../../src/features/bootstrap/bootstrap.js";
import conversation from "../../src/features/conversation/feature.js";
import http from "../../src/features/http.js";
import language from "../../src/features/language.js";
import mqtt from "../../src/features/mqtt.js";
import update from "../../src/features/update/feature.js";
import { voiceFeature } from "../../src/features/voice/voice.js";
import type { SessionPolicy } from "../../src/protocols/protocol.js";
import { TOOLS, type Wire } from "./client.js";
import { FakeBoard, FakeSettings } from "./fake-board.js";
import { FakeMqttClient, FakeWebSocketClient } from "./fake-clients.js";
import { FakeHttpClient } from "./fake-http-client.js";
import { FakeTransport, type TransportChoice } from "./fake-protocol.js";
import { FakeTimer } from "./fake-timer.js";

type Board = ReturnType<Host["openBoard"]>;

/** Options of the application, and its features: by default those of a small build. */
type More = Partial<Host> & { readonly features?: readonly Feature[]; readonly tools?: Application["tools"] };

export const SMALL_BUILD: readonly Feature[] = [language, update];

export function start(
	board: Board = new FakeBoard(),
	choice: TransportChoice = {},
	session: SessionPolicy = "always",
	{ features = SMALL_BUILD, built, tools = TOOLS, ...more }: More = {},
) {
	const timer = new FakeTimer();
	const log: string[] = [];
	const transport = new FakeTransport(choice);
	const application = new Application({
		openBoard: () => board,
		store: new FakeSettings(),
		built: { backend: "ws://backend/", session, ...built },
		openNetwork: () => ({}),
		findTools: () => tools,
		timer,
		log: (line) => log.push(line),
		...more,
	});
	const fake: Feature = { name: "fake", start: ({ backend }) => void backend.transports.set("ws", () => transport) };
	application.start([...features, fake]);
	const mcp = (): Wire[] =>
		transport.channel.sent
			.splice(0)
			.map((text) => JSON.parse(text))
			.filter(({ type }) => type === "mcp");
	return { application, transport, timer, log, mcp };
}

export function inSession(board = new FakeBoard(), choice: TransportChoice = {}, more: More = {}) {
	const started = start(board, choice, undefined, more);
	started.transport.channel.greet();
	return { ...started, board };
}

export const request = (id: number, method: string, params?: object): object => ({
	type: "mcp",
	payload: { jsonrpc: "2.0", id, method, params },
});

export const stateChange = (newState: string, oldState: string): object => ({
	jsonrpc: "2.0",
	method: "notifications/state_changed",
	params: { newState, oldState },
});

interface Choice extends Partial<Host> {
	readonly board?: Board;
	readonly tools?: Application["tools"];
	readonly timer?: FakeTimer;
	/** Features added to those of a usual build. */
	readonly features?: readonly Feature[];
}

/** The firmware as `main.ts` starts it, for a backend at ws://h/, on a network of fake clients. */
export function startOn({
	board = new FakeBoard(),
	built,
	tools = TOOLS,
	timer = new FakeTimer(),
	features = [],
	...host
}: Choice) {
	const log: string[] = [];
	const first = FakeWebSocketClient.made.length;
	const application = new Application({
		openBoard: () => board,
		store: new FakeSettings(),
		built: { backend: "ws://h/", ...built },
		openNetwork: () => ({
			ws: { io: FakeWebSocketClient },
			mqtt: { io: FakeMqttClient },
			http: { io: FakeHttpClient },
		}),
		findTools: () => tools,
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

const bootstrap = bootstrapFeature(async () => new ArrayBuffer(0));

/** Speech without UDP. */
export const voice = voiceFeature(() => {
	throw new Error("no UDP");
});

const FEATURES: readonly Feature[] = [bootstrap, conversation, http, language, mqtt, update, voice];

export const listening = (...listeners: readonly Listener[]): Feature => ({
	name: "listening",
	start: (app) => app.listen(...listeners),
});
