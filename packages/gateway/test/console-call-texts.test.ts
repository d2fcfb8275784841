import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { answerText, argumentsText } from "../src/console/call-texts.js";

const TOOL = {
	name: "set",
	inputSchema: {
		type: "object" as const,
		properties: { pin: { type: "string", writeOnly: true }, code: { type: "string", format: "password" } },
	},
};

describe("a call in the console's log", () => {
	it("has its arguments without secrets, and short", () => {
		const args = { ssid: "home", password: "hunter2", pin: "1234", code: "x", nested: [{ apiKey: "k" }], volume: 3 };
		const text = argumentsText({ tool: TOOL, args });
		assert.deepEqual(JSON.parse(text), {
			ssid: "home",
			password: "•••",
			pin: "•••",
			code: "•••",
			nested: [{ apiKey: "•••" }],
			volume: 3,
		});
		const long = argumentsText({
			tool: TOOL,
			args: { a: "x".repeat(10_000), b: Array.from({ length: 5_000 }, () => 1) },
		});
		assert.ok(long.length <= 501, `${long.length} characters`);
	});

	it("has no key of a download in a URL, neither in arguments nor in what came back", () => {
		const url = "http://192.0.2.1/xiaozhi/ota/download/lamp_1.2.bin?device=aa%3Abb&key=c2VjcmV0";
		const shown = "http://192.0.2.1/xiaozhi/ota/download/lamp_1.2.bin?device=aa%3Abb&key=•••";
		assert.deepEqual(JSON.parse(argumentsText({ tool: TOOL, args: { url } })), { url: shown });
		const content = [{ type: "text" as const, text: `cannot download ${url}: status 404` }];
		assert.equal(answerText({ result: { content } }), `cannot download ${shown}: status 404`);
	});

	it("has what came back in words", () => {
		const content = [
			{ type: "text" as const, text: "y".repeat(500) },
			{ type: "image" as const, mimeType: "image/jpeg", data: "AAAA" },
		];
		assert.ok(answerText({ result: { content } }).length <= 201);
		assert.equal(answerText({ result: { content: content.slice(1) } }), "[image/jpeg]");
		assert.equal(answerText({ result: undefined }), "");
	});
});
