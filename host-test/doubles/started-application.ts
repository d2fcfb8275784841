import { Application } from "../../src/app/application.js";
import type { ApplicationOptions } from "../../src/app/application-options.js";
import type { Board } from "../../src/hardware/hardware.js";
import { LANGUAGES } from "../../src/language/feature.js";
import type { SessionPolicy } from "../../src/protocols/protocol-options.js";
import { ADDONS } from "./addons.js";
import type { Wire } from "./client.js";
import { FakeBoard } from "./fake-board.js";
import { FakeTransport, type TransportChoice } from "./fake-protocol.js";
import { FakeTimer } from "./fake-timer.js";
import { TOOLS } from "./tools.js";

export function start(
	board: Board = new FakeBoard(),
	choice: TransportChoice = {},
	session?: SessionPolicy,
	more: Partial<ApplicationOptions> = {},
) {
	const timer = new FakeTimer();
	const log: string[] = [];
	const transport = new FakeTransport(choice);
	const application = new Application({
		board,
		backend: "ws://backend/",
		transport,
		timer,
		tools: TOOLS,
		words: LANGUAGES.en,
		update: ADDONS.update,
		...(session && { session }),
		log: (line) => log.push(line),
		...more,
	});
	application.start();
	const mcp = (): Wire[] =>
		transport.channel.sent
			.splice(0)
			.map((text) => JSON.parse(text))
			.filter(({ type }) => type === "mcp");
	return { application, transport, timer, log, mcp };
}

export function inSession(
	board = new FakeBoard(),
	choice: TransportChoice = {},
	more: Partial<ApplicationOptions> = {},
) {
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
