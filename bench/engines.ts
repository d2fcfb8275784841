import { fileURLToPath } from "node:url";
import { bundle, type Engine, type EngineChoice, type HeapLimits } from "../virtual-device/src/index.js";
import { list, type Operation } from "./operations.js";

/** The script of `bench/server.ts`. */
export const SERVER = await bundle(fileURLToPath(new URL("server.ts", import.meta.url)), true);

/** The script that tells the server how many tools it has. */
export function hostConfig(tools: number): string {
	return `globalThis.hostConfig=${JSON.stringify({ config: { tools }, settings: {}, macAddress: "" })}`;
}

/** Starts an engine with the server of `bench/server.ts`. */
export async function startServer(
	choice: EngineChoice,
	tools: number,
	limits?: HeapLimits,
	script = SERVER,
): Promise<Engine> {
	const engine = await choice.start(limits ? { limits } : {});
	await engine.run(hostConfig(tools));
	await engine.run(script);
	return engine;
}

/** Delivers messages to the server this many times. */
export async function rounds(engine: Engine, texts: readonly string[], count: number): Promise<void> {
	const [done] = await engine.deliver([{ header: ["bench", texts, count] }]);
	if (done?.header[1] !== texts.length * count) {
		throw new Error(`${done?.header[1]} answers to ${texts.length * count} messages`);
	}
}

/** All messages of an operation: a list takes as many as its answers have cursors. */
export async function messages(engine: Engine, { texts }: Operation): Promise<readonly string[]> {
	if (texts[0] !== list("")) {
		return texts;
	}
	const all: string[] = [];
	for (let text: string | undefined = list(""); text !== undefined; ) {
		all.push(text);
		const [answer] = await engine.deliver([{ header: ["answer", text] }]);
		const { nextCursor } = JSON.parse(String(answer?.header[1])).payload.result;
		text = nextCursor === undefined ? undefined : list(nextCursor);
	}
	return all;
}
