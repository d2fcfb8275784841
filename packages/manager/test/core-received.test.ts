import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isSpecType } from "@modelcontextprotocol/client";
import { readMessage, withoutNulls } from "../src/core/received.js";
import { readResult } from "../src/core/results.js";

const answer = (members: object) => readMessage({ jsonrpc: "2.0", id: 1, ...members }) as unknown;
const error = (code: number, message: string, more = {}) => ({
	jsonrpc: "2.0",
	id: 1,
	error: { code, message, ...more },
});
const result = (members: object) => ({ jsonrpc: "2.0", id: 1, result: members });

describe("a message of a server", () => {
	it("has no members that are null, except where null is a value", () => {
		const given = {
			a: null,
			b: [{ c: null, d: [null] }],
			arguments: { e: null },
			structuredContent: { f: null },
			data: null,
			inputSchema: null,
		};
		assert.deepEqual(withoutNulls(given), {
			b: [{ d: [null] }],
			arguments: { e: null },
			structuredContent: { f: null },
			data: null,
		});
		const same = { a: [{ b: 1 }] };
		assert.equal(withoutNulls(same), same);
	});

	for (const [what, given, read] of [
		["an error that is null", { result: {}, error: null }, result({})],
		["metadata that is null", { result: { _meta: null } }, result({})],
		["a result that is null", { result: null }, result({})],
		["a list that is null", { result: { tools: null } }, result({ tools: [] })],
		["an id as text", { id: "1", result: {} }, result({})],
		["no jsonrpc", { jsonrpc: undefined, result: {} }, result({})],
		["an error without a message", { error: { code: -32_000 } }, error(-32_000, "error -32000 without a message")],
		["an error without members", { error: {} }, error(-32_000, "error without a message")],
		["an error with a code as text", { error: { code: "E1", message: "boom" } }, error(-32_000, "boom (E1)")],
		["an error with null for its code", { error: { code: null, message: "boom" } }, error(-32_000, "boom")],
		["an error with null for its data", { error: { code: 5, message: "boom", data: null } }, error(5, "boom")],
		["an error that is text", { error: "boom" }, error(-32_000, "boom")],
	] as const) {
		it(`may be an answer with ${what}`, () => assert.deepEqual(answer(given), read));
	}

	for (const [what, params, read] of [
		["null members", { total: null, message: null }, {}],
		["numbers as text", { progress: "3", total: "10" }, { total: 10 }],
		["a percentage as text", { progress: "3 %", total: "all" }, {}],
		["a message that is no text", { message: 5 }, { message: "5" }],
	] as const) {
		it(`may be progress with ${what}`, () => {
			const message = { method: "notifications/progress", params: { progressToken: "7", progress: 3, ...params } };
			assert.deepEqual(readMessage(message), {
				jsonrpc: "2.0",
				method: "notifications/progress",
				params: { progressToken: 7, progress: 3, ...read },
			});
		});
	}

	it("is read a few times, however deep a member that is null is", () => {
		let reads = 0;
		const items = new Proxy([...Array(100).fill(0), null], {
			get(target, key, receiver) {
				reads += 1;
				return Reflect.get(target, key, receiver);
			},
		});
		let given: unknown = items;
		for (let level = 0; level < 60; level += 1) {
			given = { next: given };
		}
		withoutNulls(given);
		assert.ok(reads < 10 * items.length, `${reads} reads`);
	});

	it("is rejected with its reason if it is none", () => {
		for (const none of [null, 5, [], {}, { id: null, result: {} }, { method: 5 }]) {
			assert.throws(() => readMessage(none), /not a JSON object|not a request/);
		}
		assert.throws(() => readMessage({ id: null, error: { code: 1, message: "boom" } }), /: boom$/);
	});
});

const text = (content: string) => ({ type: "text", text: content });

describe("the result of a call", () => {
	for (const [what, given, read] of [
		["content that is missing beside structuredContent", { structuredContent: { a: 1 } }, [text('{"a":1}')]],
		["members of its own instead of content", { value: 5 }, [text('{"value":5}')]],
		["the member of revision 2024-10-07", { toolResult: [1] }, [text("[1]")]],
		["nothing", {}, []],
		["content as text", { content: "hi" }, [text("hi")]],
		["content that is one block", { content: text("hi") }, [text("hi")]],
		["a text that is a number", { content: [{ type: "text", text: 5 }] }, [text("5")]],
		["isError as text", { content: [text("hi")], isError: "false" }, [text("hi")]],
		[
			"a link without a name",
			{ content: [{ type: "resource_link", uri: "a://b" }] },
			[{ type: "resource_link", uri: "a://b", name: "a://b" }],
		],
		["an invalid member of a block", { content: [{ ...text("hi"), annotations: { priority: 9 } }] }, [text("hi")]],
		[
			"a block of an unknown type",
			{ content: [text("hi"), { type: "video" }] },
			[text("hi"), text('(a block of the type "video" was left out: it is not valid MCP)')],
		],
		[
			"a block whose type is the name of a member of every object",
			{ content: [{ type: "constructor" }] },
			[text('(a block of the type "constructor" was left out: it is not valid MCP)')],
		],
		[
			"a block whose type is no text, nor can become one",
			{ content: [text("hi"), { type: { toString: 1 } }] },
			[text("hi"), text('(a block of the type {"toString":1} was left out: it is not valid MCP)')],
		],
		[
			"a picture without its type",
			{ content: [{ type: "image", data: "aa" }, text("hi")] },
			[text('(a block of the type "image" was left out: it is not valid MCP)'), text("hi")],
		],
	] as const) {
		it(`is delivered if it has ${what}`, () => {
			const { content, isError, structuredContent } = readResult("tools/call", given);
			assert.deepEqual(content, read);
			assert.ok(isError !== true);
			assert.deepEqual(structuredContent, (given as { structuredContent?: unknown }).structuredContent);
		});
	}

	it("that is valid, or asks for input, stays the same object", () => {
		for (const valid of [{ content: [text("hi")] }, { inputRequests: {} }, { requestState: "s" }]) {
			assert.equal(readResult("tools/call", valid), valid);
		}
	});
});

describe("a list of revision 2026-07-28", () => {
	it("is not cached if its cache hints are missing or invalid", () => {
		const list = { resultType: "complete", tools: [] };
		const expected = { ...list, ttlMs: 0, cacheScope: "private" };
		for (const hints of [{}, { ttlMs: 5 }, { ttlMs: -1, cacheScope: "public" }, { ttlMs: 5, cacheScope: "all" }]) {
			assert.deepEqual(readResult("tools/list", { ...list, ...hints }), expected);
		}
	});

	it("keeps valid cache hints, and an earlier revision gets none", () => {
		const list = { resultType: "complete", tools: [], ttlMs: 5, cacheScope: "public" };
		assert.equal(readResult("tools/list", list), list);
		assert.deepEqual(readResult("tools/list", { tools: [] }), { tools: [] });
	});
});

describe("the answer to initialize", () => {
	it("is valid whatever it lacks", () => {
		for (const given of [
			{},
			{ protocolVersion: { toString: 1 } },
			{ protocolVersion: "1.0", serverInfo: { name: "s" }, capabilities: { tools: true, resources: { subscribe: 1 } } },
			{ protocolVersion: "2025-06-18", serverInfo: { name: "s", version: 2, icons: "i" }, instructions: 5 },
		]) {
			assert.ok(isSpecType.InitializeResult(readResult("initialize", given)), JSON.stringify(given));
		}
	});

	it("declares a capability with invalid members without these", () => {
		const { capabilities } = readResult("initialize", { capabilities: { tools: true, prompts: false, logging: {} } });
		assert.deepEqual(capabilities, { tools: {}, logging: {} });
	});
});

it("one invalid part of a resource or a prompt costs that part", () => {
	const contents = [{ uri: "a://1", text: "hello", mimeType: 5 }, { uri: "a://2" }, null];
	assert.deepEqual(readResult("resources/read", { contents }), { contents: [{ uri: "a://1", text: "hello" }] });
	const messages = [{ role: "user", content: "hi" }, null, { role: "system", content: [text("be brief")] }];
	assert.deepEqual(readResult("prompts/get", { description: 5, messages }), {
		messages: [
			{ role: "user", content: text("hi") },
			{ role: "user", content: text("be brief") },
		],
	});
});
