import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { testWith } from "../../../host-test/support/testing.js";
import { startWithDevice, VOLUME, WireDevice } from "../testing/gateway.js";
import { startProgram } from "../testing/program.js";
import { initializeParams, openSession, post, postIn } from "../testing/raw-session.js";

const INITIALIZE = { jsonrpc: "2.0", id: 1, method: "initialize", params: initializeParams() };

async function start(t: TestContext) {
	const { side } = await startWithDevice(t);
	const url = side.clientUrl();
	const { session } = await openSession(url);
	const ask = async (message: object) => {
		const response = await post(url, message, { "mcp-session-id": session });
		const text = await response.text();
		return { status: response.status, ...JSON.parse(/^data: (.*"id":1.*)$/m.exec(text)?.[1] ?? text) };
	};
	return { url, ask };
}

const itStarted = testWith(start);

describe("a request of a client", () => {
	for (const [what, message] of [
		["params", { method: "tools/list", params: null }],
		["a cursor", { method: "tools/list", params: { cursor: null } }],
		["metadata", { method: "tools/list", params: { _meta: null } }],
		["a progress token", { method: "tools/list", params: { _meta: { progressToken: null } } }],
		["a template's context", { method: "resources/templates/list", params: { cursor: null, _meta: null } }],
	] as const) {
		itStarted(`may have null for ${what}`, async ({ ask }) => {
			assert.equal(typeof (await ask(message)).result, "object");
		});
	}

	itStarted("may call a tool with null for its arguments, whose schema decides", async ({ ask }) => {
		const { result } = await ask({ method: "tools/call", params: { name: VOLUME, arguments: null } });
		assert.match(result.content[0].text, /volume: is missing/);
	});

	itStarted("is told in words which parameter is wrong", async ({ ask }) => {
		for (const [method, params, message] of [
			["logging/setLevel", { level: "verbose" }, /^Invalid params: level: expected one of /],
			["tools/call", { name: 5 }, /^Invalid params: name: expected string, received number$/],
			["tools/call", { name: VOLUME, arguments: [] }, /^Invalid params: arguments: expected record, received array$/],
			["resources/read", {}, /^Invalid params: uri: required \(string\)$/],
		] as const) {
			const { error } = await ask({ method, params });
			assert.equal(error?.code, -32_602, method);
			assert.match(error.message, message);
		}
	});

	itStarted("is rejected if its body is no message", async ({ url }) => {
		for (const body of ["null", "5", '"text"', "true"]) {
			const headers = { "content-type": "application/json", accept: "*/*" };
			const { status } = await fetch(url, { method: "POST", headers, body });
			assert.equal(status, 400, body);
		}
	});

	itStarted("may initialize without capabilities or a version, or with those that are invalid", async ({ url }) => {
		const { protocolVersion } = INITIALIZE.params;
		for (const params of [
			{ protocolVersion },
			{ protocolVersion, clientInfo: { name: "x" } },
			{ protocolVersion, capabilities: null, clientInfo: null },
			{ protocolVersion, capabilities: { roots: true, sampling: null }, clientInfo: { name: "x", version: null } },
		]) {
			assert.equal((await postIn(url, { ...INITIALIZE, params })).status, 200, JSON.stringify(params));
		}
		const { status, text } = await postIn(url, { ...INITIALIZE, params: { protocolVersion: 5 } });
		assert.equal(status, 400);
		assert.match(text, /initialize: expected .*protocolVersion/);
	});

	for (const accept of ["*/*", "Application/JSON, Text/Event-Stream;q=0.5", "application/*, text/*"]) {
		itStarted(`may accept ${accept}`, async ({ url }) => {
			const headers = { "content-type": "Application/JSON", accept };
			const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(INITIALIZE) });
			assert.equal(response.status, 200);
			await response.text();
		});
	}

	it("may have a slash at the end of its path", async (t) => {
		const started = await startProgram(t);
		await WireDevice.connect(t, started);
		for (const path of ["/mcp/", "/mcp/lamp_000001/"]) {
			assert.equal((await postIn(`${started.base}${path}`, INITIALIZE)).status, 200, path);
		}
	});
});
