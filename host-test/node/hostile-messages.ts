// Messages that are meant to exhaust a chip: each is made of a number, so that a run can be repeated.

export function makeRandom(seed: number): () => number {
	let state = seed;
	return () => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		return state / 2 ** 32;
	};
}

export type Hostile = string | Buffer | readonly Buffer[];

const SET_VOLUME = "self.audio_speaker.set_volume";

const envelope = (payload: string): string => `{"session_id":"s","type":"mcp","payload":${payload}}`;

const request = (method: string, params: string): string =>
	envelope(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`);

const call = (args: string): string => request("tools/call", `{"name":"${SET_VOLUME}","arguments":${args}}`);

const list = (count: number, item: string): string => `[${Array(count).fill(item).join(",")}]`;

/** Messages that ended a chip when it was first attacked. */
export const KNOWN: readonly Hostile[] = [
	call(`{"volume":${list(1_400, "[]")}}`),
	call(`{"volume":5,"other":${list(4_000, "1")}}`),
	call(`{"volume":5,"other":"${"x".repeat(24_000)}"}`),
	call(`{"volume":"${"x".repeat(70_000)}"}`),
];

type Size = (most: number) => number;

type Make = (size: Size) => Hostile;

/** Types of messages other than MCP: those of the firmware, and an unknown one. `goodbye` is left out: it ends the session. */
const TYPES = [
	"hello",
	"tts",
	"stt",
	"llm",
	"system",
	"alert",
	"custom",
	"notify",
	"listen",
	"speak_request",
	"glyph_push",
	"unheard-of",
];

const MEMBERS = [
	...["session_id", "transport", "features", "audio_params", "udp", "max_message_bytes", "state", "text", "emotion"],
	...["command", "status", "message", "payload", "audio_url", "subtitles", "glyph_push", "bundle", "glyphs"],
];

/** Values of types that nobody expects. Not a text as `session_id`: the session would have another id. */
const VALUES = ["null", "true", "-1", "1e999", "[]", "{}", "[[]]", '{"a":{"b":[{}]}}', "0.1"];

const INHERITED = ["__proto__", "constructor", "hasOwnProperty", "toString", "length", "then", "toJSON"];

const pick = <T>(list: readonly T[], size: Size): T => list[size(list.length) - 1] as T;

const invented = (size: Size, most: number, value = "0"): string =>
	Array.from({ length: size(most) }, () => `"n${size(1e9)}":${value}`).join(",");

const message = (size: Size, members: string): string => `{"type":"${pick(TYPES, size)}",${members}}`;

/** Their relatives. `size(most)` is a whole number from 1 to `most`. */
const RELATIVES: readonly Make[] = [
	(size) => call(`{"volume":${list(size(3_000), "[]")}}`),
	(size) => call(`{"other":${list(size(3_000), "{}")}}`),
	(size) => call(`{"other":${list(size(6_000), `${size(1e6)}`)}}`),
	(size) => call(`{"other":${list(size(2_000), '"a"')}}`),
	(size) => call(`{"other":${list(size(400), '{"a":[1,{"b":2}]}')}}`),
	(size) => call(`{"volume":"${"語".repeat(size(9_000))}"}`),
	(size) => call(`{"other":"${"\\u0041".repeat(size(4_000))}"}`),
	(size) => call(`{"volume":5,"x":"${"y".repeat(size(8_000))}"}`),
	(size) => call("[".repeat(size(300)) + "]".repeat(size(300))),
	(size) => call('{"a":'.repeat(size(300))),
	(size) => call(`{${Array.from({ length: size(600) }, () => `"n${size(1e9)}":0`).join(",")}}`),
	(size) => request(`m${"x".repeat(size(8_000))}`, "{}"),
	(size) => request("tools/call", `{"name":"${"x".repeat(size(8_000))}"}`),
	(size) => request("tools/list", `{"cursor":"${"x".repeat(size(8_000))}"}`),
	(size) => request("tools/list", `{"withUserTools":true,"p${size(1e9)}":0}`),
	(size) => envelope(`{"jsonrpc":"2.0","id":"${"i".repeat(size(8_000))}","method":"ping"}`),
	(size) => envelope(list(size(200), '{"jsonrpc":"2.0","id":1,"method":"tools/list"}')),
	(size) => envelope(list(size(16), '{"jsonrpc":"2.0","id":1,"method":"tools/list"}')),
	(size) => request("initialize", `{"capabilities":{"vision":{"url":"http://${"v".repeat(size(7_000))}"}}}`),
	(size) =>
		request(
			"initialize",
			`{"capabilities":{"roots":${list(size(250), "[]")},"sampling":"${"s".repeat(size(6_000))}"}}`,
		),
	(size) => request("initialize", `{"clientInfo":{"name":"${"n".repeat(size(7_000))}"}}`),
	(size) => `{"type":"stt","text":"${"t".repeat(size(8_000))}"}`,
	(size) => `{"type":"custom","payload":${list(size(500), '{"a":1}')}}`,
	(size) => `{"type":"${"u".repeat(size(8_000))}"}`,
	(size) => message(size, invented(size, 100)),
	(size) => message(size, `"${pick(MEMBERS, size)}":{${invented(size, 100)}}`),
	(size) => message(size, `"${pick(MEMBERS, size)}":[{${invented(size, 50)}},{${invented(size, 50)}}]`),
	(size) =>
		message(size, `"${pick(MEMBERS, size)}":${pick(VALUES, size)},"${pick(MEMBERS, size)}":${pick(VALUES, size)}`),
	(size) => message(size, `"text":"a","text":{${invented(size, 9)}},"text":"b","state":"start","state":[]`),
	(size) => message(size, Array.from({ length: size(100) }, () => `"${size(2 ** 32)}":0`).join(",")),
	(size) => message(size, INHERITED.map((name) => `"${name}":{"${name}":${pick(VALUES, size)}}`).join(",")),
	(size) => message(size, `"payload":{"${"k".repeat(size(6_000))}":"${"v".repeat(size(1_000))}"}`),
	(size) => message(size, `"\\u0000${size(1e9)}":"\\u0000","\\ud800":"\\udfff${size(1e9)}"`),
	(size) => `\ufeff${message(size, invented(size, 20))}`,
	(size) => `${message(size, invented(size, 20))}\u0000`,
	(size) => `{"type":${pick(VALUES, size)},${invented(size, 20)}}`,
	(size) => `{"session_id":${pick(VALUES, size)},"type":"mcp","payload":{${invented(size, 50)}}}`,
	(size) => `{${invented(size, 9, '"a"')},"payload":{${invented(size, 9, '"b"')},"id":2,"x":"${"x".repeat(9_000)}"}}`,
	(size) => envelope(`{"jsonrpc":"2.0","id":1,${invented(size, 50)},"method":"m${size(1e9)}"}`),
	(size) => envelope(`{"jsonrpc":"2.0","method":"notifications/n${size(1e9)}","params":{${invented(size, 50)}}}`),
	(size) => envelope(`{"jsonrpc":"2.0","id":${size(1e9)},"result":{${invented(size, 50)}}}`),
	(size) => envelope(`{"jsonrpc":"2.0","id":null,"error":{${invented(size, 50)}}}`),
	(size) => envelope(`[{"jsonrpc":"2.0","id":1,${invented(size, 50)},"method":"ping"}]`),
	(size) => request("initialize", `{"capabilities":{${invented(size, 50, "{}")}},"clientInfo":{${invented(size, 9)}}}`),
	(size) => request("tools/call", `{"name":"n${size(1e9)}","arguments":{${invented(size, 50)}}}`),
	(size) => request("resources/read", `{"uri":"n${size(1e9)}:","_meta":{${invented(size, 50)}}}`),
	(size) => request("prompts/get", `{"name":"n${size(1e9)}","arguments":{${invented(size, 50)}}}`),
	(size) => call(`{"volume":50,${invented(size, 100)}}`),
	(size) => "x".repeat(size(80_000)),
	(size) => Buffer.alloc(size(9_000), 0xff),
	(size) => Buffer.alloc(size(9_000)),
	(size) => Array.from({ length: size(60) }, () => Buffer.from("y".repeat(size(300)))),
	(size) => Array.from({ length: size(400) }, () => Buffer.from("z")),
	(size) => Array.from({ length: size(20) }, () => Buffer.from(list(size(2_000), "[]"))),
];

export function makeHostile(random: () => number): Hostile {
	const size = (most: number): number => 1 + Math.floor(random() * most);
	const at = Math.floor(random() * (KNOWN.length + RELATIVES.length));
	return KNOWN[at] ?? (RELATIVES[at - KNOWN.length] as Make)(size);
}
