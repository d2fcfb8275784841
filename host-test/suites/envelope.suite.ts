import { decodeEnvelope, goodbyeMessage, helloMessage, mcpWrapper } from "../../src/protocols/envelope.js";
import { equal, suite, throws } from "../harness.js";

/** Hello as docs/protocol.md has it, to the letter: the protocol document's, and the limit at its end. */
const hello = (version: number, transport: string): string =>
	`{"type":"hello","version":${version},"features":{"mcp":true},"transport":"${transport}","audio_params":{"format":"opus","sample_rate":16000,"channels":1,"frame_duration":60},"max_message_bytes":8192}`;

const NAMES = { commonNames: ["type", "payload", "id"], initializeNames: [], widerNames: () => undefined };

export default suite("envelope and hello", {
	"is an object with a type, and keeps every other member"() {
		equal(decodeEnvelope('{"type":"x","session_id":"s","a":[1]}'), { type: "x", session_id: "s", a: [1] });
		equal(decodeEnvelope(' {"type":""}\n'), { type: "" });
		equal(decodeEnvelope('{"type":"mcp","__proto__":{"x":1}}').x, undefined);
	},
	"is rejected with a message that says what is wrong"() {
		const cases: [string, RegExp][] = [
			["[]", /^expected an object$/],
			["null", /^expected an object$/],
			['"mcp"', /^expected an object$/],
			["{}", /^type: expected a string$/],
			['{"type":null}', /^type: expected a string$/],
			['{"type":["mcp"]}', /^type: expected a string$/],
			["", /./],
			['{"type":"mcp"', /./],
			[`{"type":"mcp","payload":${"[".repeat(40)}${"]".repeat(40)}}`, /deeper than 32/],
		];
		for (const [text, message] of cases) {
			equal(throws(() => decodeEnvelope(text), message) instanceof SyntaxError, true, text);
		}
	},
	"keeps just the members of an MCP message that are wanted"() {
		const mcp = decodeEnvelope('{"type":"mcp","payload":{"id":1,"other":{"id":2}},"more":3}', undefined, NAMES);
		equal(mcp, { type: "mcp", payload: { id: 1 } });
	},
	"keeps the members of other messages that the firmware reads"() {
		const audio_params = { format: "opus", sample_rate: 16000, channels: 1, frame_duration: 60 };
		const udp = { server: "u", port: 1, key: "k", nonce: "n" };
		const glyph = { codepoint: 33, adv_w: 128, box_w: 3, box_h: 2, ofs_x: 1, ofs_y: -1, bitmap: "AA==" };
		for (const message of [
			{ type: "hello", session_id: "s", transport: "udp", audio_params, udp, features: { listen: false } },
			{ type: "hello", max_message_bytes: 4096 },
			{ type: "tts", session_id: "s", state: "sentence_start", text: "a" },
			{ type: "stt", text: "a", glyph_push: { v: 1, bundle: "noto-v1", bpp: 1, glyphs: [glyph] } },
			{ type: "llm", emotion: "happy", text: "a" },
			{ type: "system", command: "reboot" },
			{ type: "alert", status: "a", message: "b", emotion: "sad" },
			{ type: "notify", text: "a", audio_url: "http://a/", subtitles: [{ start_ms: 1, text: "b" }] },
			{ type: "listen", state: "start" },
			{ type: "goodbye", session_id: "s" },
		]) {
			equal(decodeEnvelope(JSON.stringify(message), undefined, NAMES), message);
		}
	},
	"has the payload of a custom message as text"() {
		for (const [payload, text] of [
			['{"other":[{"id":2}]}', '{"other":[{"id":2}]}'],
			['{"a}":"\\"}{\\\\","b":{}} ', '{"a}":"\\"}{\\\\","b":{}}'],
			["{}", "{}"],
			['"{}"', undefined],
			["[{}]", undefined],
			["null", undefined],
			[`{"k":"${"語".repeat(600)}"}`, `{"k":"${"語".repeat(507)}`],
		]) {
			const { type, payload: kept } = decodeEnvelope(`{"type":"custom", "payload" : ${payload}}`, undefined, NAMES);
			equal([type, kept], ["custom", text]);
		}
	},
	"stands around an MCP message in the document's order"() {
		for (const id of ["s-1", "", 'quo"te\\', "日本語", "a\nb"]) {
			const { start, end } = mcpWrapper(id);
			equal(
				`${start}{"jsonrpc":"2.0"}${end}`,
				JSON.stringify({ session_id: id, type: "mcp", payload: { jsonrpc: "2.0" } }),
			);
		}
	},
	"says goodbye for a session, or for whichever there is"() {
		equal(goodbyeMessage("s-1"), '{"session_id":"s-1","type":"goodbye"}');
		equal(goodbyeMessage(), '{"type":"goodbye"}');
	},
	"says hello to the letter"() {
		for (const [version, transport] of [
			[1, "websocket"],
			[3, "udp"],
		] as const) {
			equal(helloMessage({ version, name: transport, maxMessageBytes: 8192 }), hello(version, transport));
		}
	},
});
