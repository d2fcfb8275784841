import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseMessage } from "../src/devices/device-connection.js";

describe("a message from a device", () => {
	it("is a JSON object with a type", () => {
		assert.deepEqual(parseMessage('{"type":"tts","state":"start"}'), { type: "tts", state: "start" });
		for (const [text, message] of [
			["{", /JSON/],
			["[]", /expected an object/],
			['{"type":5}', /type: expected a string/],
		] as const) {
			assert.throws(() => parseMessage(text), { name: "SyntaxError", message });
		}
	});

	it("may have a byte order mark, and the end of a string in C", () => {
		for (const text of ['\uFEFF{"type":"abort"}', '{"type":"abort"}\0', '\uFEFF{"type":"abort"}\0\0']) {
			assert.deepEqual(parseMessage(text), { type: "abort" });
		}
	});

	it("is rejected without delay when it is a megabyte of quotes or brackets", () => {
		for (const unit of ['"', '\\"', "[", '["']) {
			assert.throws(() => parseMessage(`"${unit.repeat(1_000_000 / unit.length)}`), SyntaxError);
		}
	});
});
