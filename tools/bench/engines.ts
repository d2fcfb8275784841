import { fileURLToPath } from "node:url";
import { bundle, type Engine, type EngineChoice, type HeapLimits } from "xs-mcp-virtual-device";

/** A measured operation: the messages of one round, as text on the wire. The cursor of each page comes from the answer before. */
export interface Operation {
	readonly name: string;
	readonly tools: number;
	readonly texts: readonly string[];
}

function envelope(method: string, params: object, id: number | string = 1): string {
	const payload = { jsonrpc: "2.0", id, method, params };
	return JSON.stringify({ session_id: "0123456789abcdef", type: "mcp", payload });
}

const call = (name: string, args: object = {}): string => envelope("tools/call", { name, arguments: args });

/** The request for a page. */
const list = (cursor: string): string => envelope("tools/list", { cursor }, 2);

export const OPERATIONS: readonly Operation[] = [
	{
		name: "initialize",
		tools: 10,
		texts: [
			envelope("initialize", {
				protocolVersion: "2024-11-05",
				capabilities: { vision: { url: "http://v/", token: "t" } },
			}),
		],
	},
	{ name: "list, 10 tools", tools: 10, texts: [list("")] },
	{ name: "list, 40 tools", tools: 40, texts: [list("")] },
	{ name: "call set_volume", tools: 10, texts: [call("self.audio_speaker.set_volume", { volume: 50 })] },
	{ name: "call get_device_status", tools: 10, texts: [call("self.get_device_status")] },
	{ name: "ping", tools: 10, texts: [envelope("ping", {})] },
	{ name: "unknown tool", tools: 10, texts: [call("self.no.such_tool")] },
	{
		name: "malformed JSON",
		tools: 10,
		texts: ['{"session_id":"0123456789abcdef","type":"mcp","payload":{"jsonrpc":"2.0","id":1,'],
	},
];

/** Everything a backend says in a session, for the memory figures. */
export const SUITE: readonly string[] = [
	...OPERATIONS.filter(({ tools }) => tools === 10).flatMap(({ texts }) => texts),
	envelope("tools/list", { withUserTools: true }, "a-string-id"),
	call("self.audio_speaker.set_volume", { volume: 101 }),
	call("self.screen.set_theme", { theme: "dark" }),
	call("self.get_system_info"),
	call("self.bench.tool_3", { level: 60, note: "why not" }),
];

/** The script of `tools/bench/server.ts`. */
export const SERVER = await bundle(fileURLToPath(new URL("server.ts", import.meta.url)), true);

/** The script that tells the server how many tools it has. */
export function hostConfig(tools: number): string {
	return `globalThis.hostConfig=${JSON.stringify({ config: { tools }, settings: {}, macAddress: "" })}`;
}

/** Starts an engine with the server of `tools/bench/server.ts`. */
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
