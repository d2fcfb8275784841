import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { CallDetails, Server } from "xs-mcp-manager/core";
import { recordActivity } from "../src/console/activity.js";

const TOOL = {
	name: "set",
	inputSchema: {
		type: "object" as const,
		properties: { pin: { type: "string", writeOnly: true }, code: { type: "string", format: "password" } },
	},
};

const RECORD = { principal: "local", serverId: "lamp", tool: "set", duration: 1, outcome: "ok" } as const;

function entryOf(args: object, content?: NonNullable<CallDetails["result"]>["content"]) {
	const details = { server: {} as Server, tool: TOOL, args, result: content && { content }, clientName: undefined };
	return recordActivity().called(RECORD, details).entry;
}

describe("a call in the console's log", () => {
	it("has its arguments without secrets, and short", () => {
		const args = { ssid: "home", password: "hunter2", pin: "1234", code: "x", nested: [{ apiKey: "k" }], volume: 3 };
		assert.deepEqual(JSON.parse(`${entryOf(args).args}`), {
			ssid: "home",
			password: "•••",
			pin: "•••",
			code: "•••",
			nested: [{ apiKey: "•••" }],
			volume: 3,
		});
		const long = entryOf({ a: "x".repeat(10_000), b: Array.from({ length: 5_000 }, () => 1) }).args;
		assert.ok(long !== undefined && long.length <= 501, `${long?.length} characters`);
	});

	it("has no key of a download in a URL, neither in arguments nor in what came back", () => {
		const url = "http://192.0.2.1/xiaozhi/ota/download/lamp_1.2.bin?device=aa%3Abb&key=c2VjcmV0";
		const shown = "http://192.0.2.1/xiaozhi/ota/download/lamp_1.2.bin?device=aa%3Abb&key=•••";
		const { args, answer } = entryOf({ url }, [{ type: "text", text: `cannot download ${url}: status 404` }]);
		assert.deepEqual(JSON.parse(`${args}`), { url: shown });
		assert.equal(answer, `cannot download ${shown}: status 404`);
	});

	it("has what came back in words", () => {
		const content = [
			{ type: "text" as const, text: "y".repeat(500) },
			{ type: "image" as const, mimeType: "image/jpeg", data: "AAAA" },
		];
		assert.ok(`${entryOf({}, content).answer}`.length <= 201);
		assert.equal(entryOf({}, content.slice(1)).answer, "[image/jpeg]");
		assert.equal(entryOf({}).answer, "");
	});
});
