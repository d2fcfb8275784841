import { Application, type Host } from "../../src/core/application.js";
import language from "../../src/core/language/feature.js";
import type { Feature } from "../../src/core/listener.js";
import update from "../../src/features/update/feature.js";
import type { SessionPolicy } from "../../src/protocols/protocol.js";
import type { Wire } from "./client.js";
import { FakeBoard } from "./fake-board.js";
import { FakeTransport, type TransportChoice } from "./fake-protocol.js";
import { FakeTimer } from "./fake-timer.js";
import { TOOLS } from "./tools.js";

/** Options of the application, and its features: by default those of a small build. */
type More = Partial<Host> & { readonly features?: readonly Feature[] };

export const SMALL_BUILD: readonly Feature[] = [language, update];

export function start(
	board: Host["board"] = new FakeBoard(),
	choice: TransportChoice = {},
	session: SessionPolicy = "always",
	{ features = SMALL_BUILD, built, ...more }: More = {},
) {
	const timer = new FakeTimer();
	const log: string[] = [];
	const transport = new FakeTransport(choice);
	const application = new Application({
		board,
		built: { backend: "ws://backend/", session, ...built },
		openNetwork: () => ({}),
		tools: TOOLS,
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
