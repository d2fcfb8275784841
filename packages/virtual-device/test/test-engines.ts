import assert from "node:assert/strict";
import { skipIf } from "../../../host-test/support/testing.js";
import { buildXsHost, startV8Engine } from "../src/engine/build-xs.js";
import { type Engine, EngineError, type EngineExitCode, type HeapLimits, type Message } from "../src/engine/engine.js";
import { startXsEngine } from "../src/engine/xs-engine.js";

// Engines for the tests of this folder.

interface Options {
	readonly timeoutMs?: number;
	readonly limits?: HeapLimits;
	readonly seed?: number;
	readonly onTrace?: (text: string) => void;
}

type Start = (options?: Options) => Promise<Engine>;

/** A script that posts whatever is delivered. */
export const ECHO = "globalThis.onHostMessage = (header, bytes) => post(header, bytes)";

/** Milliseconds for a command. On a busy machine filling the heap takes long; only a fault takes this long. */
const MAX_COMMAND_TIME = 300_000;

const opened: Engine[] = [];

export function closeEngines(): void {
	for (const engine of opened.splice(0)) {
		engine.close();
	}
}

function closing(start: Start): Start {
	return async (options) => {
		const engine = await start({ timeoutMs: MAX_COMMAND_TIME, ...options });
		opened.push(engine);
		return engine;
	};
}

const host = await buildXsHost(64).catch((error: unknown) => {
	if (error instanceof EngineError) {
		return error;
	}
	throw error;
});

/** Why there is no XS here; `false` where there is. */
export const noXs = skipIf(host instanceof EngineError && host.message);

export const startXs = closing((options) => startXsEngine(String(host), options));

export const ENGINES: readonly [name: string, start: Start, skip: string | false][] = [
	["XS", startXs, noXs],
	["V8", closing(startV8Engine), false],
];

/** Asserts that the command rejects because the engine ends, with this code and detail. */
export async function ends(
	command: Promise<unknown>,
	engine: Engine,
	code: EngineExitCode,
	detail: RegExp,
): Promise<void> {
	await assert.rejects(command, (error: unknown) => error instanceof EngineError && error.code === code);
	const exit = await engine.exited;
	assert.equal(exit.code, code);
	assert.match(exit.detail, detail);
}

export const headers = (messages: readonly Message[]): (readonly unknown[])[] => messages.map(({ header }) => header);
