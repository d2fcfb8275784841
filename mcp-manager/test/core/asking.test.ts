import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CLIENT_CAPABILITIES_META_KEY, LOG_LEVEL_META_KEY } from "@modelcontextprotocol/client";
import { askingParams } from "../../src/core/asking.js";

const APPS = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html"] } };

describe("the client in a stateless request", () => {
	const sent = (...args: Parameters<typeof askingParams>) =>
		(askingParams(...args)._meta as Record<string, unknown>)[CLIENT_CAPABILITIES_META_KEY];

	it("has the capabilities by which a server may ask, and the extensions that work through a gateway", () => {
		const inputClient = {
			capabilities: { sampling: {}, experimental: { x: {} }, extensions: { ...APPS, "com.example/other": {} } },
		};
		assert.deepEqual(sent({ inputClient }), { sampling: {}, extensions: APPS });
		assert.deepEqual(sent({ inputClient }, false), { sampling: {} }, "devices have no extensions");
		assert.deepEqual(sent({}), {});
	});

	it("sends its answers and the server's state back, and its log level", () => {
		const inputClient = {
			capabilities: {},
			inputResponses: { name: { action: "decline" as const } },
			requestState: "",
		};
		const { inputResponses, requestState, _meta } = askingParams({ inputClient, logLevel: "error" });
		assert.deepEqual([inputResponses, requestState], [inputClient.inputResponses, ""]);
		assert.equal((_meta as Record<string, unknown>)[LOG_LEVEL_META_KEY], "error");
		assert.deepEqual(Object.keys(askingParams({})), ["_meta"]);
	});
});
