// Messages that are meant to exhaust a chip: each is made of a number, so that a run can be repeated.

/** A sequence of numbers from 0 to below 1 that is the same for the same seed. */
export function makeRandom(seed: number): () => number {
	let state = seed;
	return () => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		return state / 2 ** 32;
	};
}

/** A message, whole or in the fragments in which it is sent. */
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

type Make = (size: (most: number) => number) => Hostile;

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
	(size) => "x".repeat(size(80_000)),
	(size) => Buffer.alloc(size(9_000), 0xff),
	(size) => Buffer.alloc(size(9_000)),
	(size) => Array.from({ length: size(60) }, () => Buffer.from("y".repeat(size(300)))),
	(size) => Array.from({ length: size(400) }, () => Buffer.from("z")),
	(size) => Array.from({ length: size(20) }, () => Buffer.from(list(size(2_000), "[]"))),
];

/** One of all of these. */
export function makeHostile(random: () => number): Hostile {
	const size = (most: number): number => 1 + Math.floor(random() * most);
	const at = Math.floor(random() * (KNOWN.length + RELATIVES.length));
	return KNOWN[at] ?? (RELATIVES[at - KNOWN.length] as Make)(size);
}
