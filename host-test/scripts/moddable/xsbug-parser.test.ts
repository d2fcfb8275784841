import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type XsbugMessage, XsbugParser } from "../../../scripts/moddable/xsbug-parser.js";

/** As a machine sends it: each message a fragment of its own. */
const STREAM = [
	'<login name="xs-mcp" value="XS 17.7.0 64-bit LE 32-bit ID" flags="e"/>',
	'<instruments><instrument name="Timers" value=""/><instrument name="XS Slot Heap Used" value=" / "/></instruments>',
	"<log>a &#38; b &#60;c&#62; 日本 &#10;</log>",
	'<frames><frame name="(host)"/></frames><local name="(host)" value="@1"></local><break path="/a.js" line="3"># Break: debugger!\n</break>',
	"<samples>3,32640</samples>",
	"<log></log>",
]
	.map((fragment) => `\r\n<xsbug>${fragment}</xsbug>\r\n`)
	.join("");

const MESSAGES: XsbugMessage[] = [
	{ kind: "login", name: "xs-mcp", engine: "XS 17.7.0 64-bit LE 32-bit ID" },
	{ kind: "log", text: "a & b <c> 日本 \n" },
	{ kind: "break", text: "/a.js:3 # Break: debugger!\n" },
	{ kind: "log", text: "" },
];

function parse(...chunks: readonly Buffer[]): XsbugMessage[] {
	const messages: XsbugMessage[] = [];
	const parser = new XsbugParser((message) => messages.push(message));
	for (const chunk of chunks) {
		parser.write(chunk);
	}
	return messages;
}

describe("a machine's messages to xsbug", () => {
	const bytes = Buffer.from(STREAM);

	it("is read byte by byte", () => {
		assert.deepEqual(parse(...[...bytes].map((byte) => Buffer.of(byte))), MESSAGES);
	});

	it("is read cut in two, wherever that is", () => {
		for (let at = 0; at < bytes.length; at += 1) {
			assert.deepEqual(parse(bytes.subarray(0, at), bytes.subarray(at)), MESSAGES, `cut at ${at}`);
		}
	});

	it("may hold a trace of a megabyte", () => {
		const text = "x".repeat(1_000_000);
		assert.deepEqual(parse(Buffer.from(`<xsbug><log>${text}</log></xsbug>`)), [{ kind: "log", text }]);
	});

	it("is rejected if it is something else", () => {
		assert.throws(() => parse(Buffer.from("GET / HTTP/1.1\r\n\r\n</nonsense>")), /not xsbug's protocol/);
	});
});
