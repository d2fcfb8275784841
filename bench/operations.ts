/** An operation to measure: the messages of one round, as text on the wire. A list goes on with the answers' cursors. */
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
export const list = (cursor: string): string => envelope("tools/list", { cursor }, 2);

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
