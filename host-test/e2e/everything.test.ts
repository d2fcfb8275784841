import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { FIRMWARE } from "../../src/settings/firmware.js";
import { bundle } from "../../virtual-device/src/index.js";
import { cases } from "../support/scope.js";
import { ENGINES, RawBackend, startDevice } from "./fixtures.js";
import { startVirtualDevice } from "./gateway-process.js";

// The firmware of host-test/fixtures/everything, as a backend sees it that is nothing but `ws`: what MCP's conformance suite
// asks for, by the names and with the contents that it expects.

const ENTRY = fileURLToPath(new URL("../fixtures/everything/main.ts", import.meta.url));

const script = await bundle(ENTRY);

/** A result, as the tests look at it. */
// biome-ignore lint/suspicious/noExplicitAny: tests read members that may not be there, and fail if they are not.
type Result = any;

it("npm run device runs it by --firmware", async (t) => {
	const backend = await RawBackend.listen(t);
	const device = await startVirtualDevice(backend.url, "--new", "--firmware", ENTRY);
	t.after(() => device.stop());
	await backend.greet();
	const { result } = await backend.ask({ id: 1, method: "tools/call", params: { name: "test_simple_text" } });
	assert.equal(result.content[0].text, "This is a simple text response for testing.");
});

for (const engine of cases(ENGINES)) {
	describe(`the fixture for the conformance suite on ${engine.kind}`, () => {
		/** A session, what it answers, and the notifications that come before an answer. */
		async function open(t: TestContext) {
			const backend = await RawBackend.listen(t);
			await startDevice(t, engine, { config: { backend: backend.url }, script });
			await backend.greet();
			const notifications: Result[] = [];
			const ask = async (method: string, params: object = {}): Promise<Result> => {
				backend.say({ type: "mcp", payload: { jsonrpc: "2.0", id: method, method, params } });
				for (;;) {
					const { payload } = JSON.parse(await backend.hear());
					if (payload.id !== undefined) {
						return payload.result ?? payload.error;
					}
					notifications.push(payload);
				}
			};
			const call = (name: string, args: object = {}, _meta: object = {}) =>
				ask("tools/call", { name, arguments: args, _meta });
			const initialized = await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {} });
			notifications.length = 0;
			return { ask, call, initialized, notifications };
		}

		it("has every capability", async (t) => {
			const { initialized } = await open(t);
			assert.deepEqual(initialized.capabilities, {
				tools: { listChanged: true },
				resources: { subscribe: true, listChanged: true },
				prompts: { listChanged: true },
				completions: {},
				logging: {},
				experimental: { stateless: { supportedVersions: ["2026-07-28"] } },
			});
		});

		it("returns each type of content", async (t) => {
			const { call } = await open(t);
			const types = async (name: string) => (await call(name)).content.map(({ type }: { type: string }) => type);
			assert.deepEqual((await call("test_simple_text")).content, [
				{ type: "text", text: "This is a simple text response for testing." },
			]);
			assert.deepEqual(await types("test_image_content"), ["image"]);
			assert.deepEqual(await types("test_audio_content"), ["audio"]);
			assert.deepEqual(await types("test_embedded_resource"), ["resource"]);
			assert.deepEqual(await types("test_resource_link"), ["resource_link"]);
			assert.deepEqual(await types("test_multiple_content_types"), ["text", "image", "resource"]);
			assert.deepEqual(await call("test_error_handling"), {
				content: [{ type: "text", text: "This tool intentionally returns an error for testing" }],
				isError: true,
			});
		});

		it("logs and reports progress while a tool runs", async (t) => {
			const { ask, call, notifications } = await open(t);
			assert.deepEqual(await ask("logging/setLevel", { level: "info" }), {});
			await call("test_tool_with_logging");
			assert.deepEqual(
				notifications.splice(0).map(({ params }) => params.data),
				["Tool execution started", "Tool processing data", "Tool execution completed"],
			);
			await call("test_tool_with_progress", {}, { progressToken: "p" });
			assert.deepEqual(
				notifications.map(({ params }) => [params.progressToken, params.progress, params.total]),
				[0, 50, 100].map((progress) => ["p", progress, 100]),
			);
		});

		it("lists any JSON Schema as it stands", async (t) => {
			const { ask } = await open(t);
			const { tools } = await ask("tools/list");
			const schemaOf = (name: string) => tools.find((tool: { name: string }) => tool.name === name).inputSchema;
			const { $schema, $defs, allOf, additionalProperties } = schemaOf("json_schema_2020_12_tool");
			assert.equal($schema, "https://json-schema.org/draft/2020-12/schema");
			assert.equal($defs.address.$anchor, "addressDef");
			assert.deepEqual([allOf[0].anyOf.length, additionalProperties], [2, false]);
			assert.equal(schemaOf("test_x_mcp_header").properties.region["x-mcp-header"], "Region");
		});

		it("reads its resources, and reports updates", async (t) => {
			const { ask, notifications } = await open(t);
			const read = async (uri: string) => (await ask("resources/read", { uri })).contents[0];
			const { resources } = await ask("resources/list");
			assert.deepEqual(
				resources.map(({ uri }: { uri: string }) => uri),
				[
					"test://static-text",
					"test://static-binary",
					"test://watched-resource",
					"device://self/camera",
					"device://self/screen",
					"device://self/state",
				],
			);
			assert.equal((await read("test://static-text")).text, "This is the content of the static text resource.");
			assert.equal((await read("test://static-binary")).mimeType, "image/png");
			assert.deepEqual(JSON.parse((await read("test://template/123/data")).text), {
				id: "123",
				templateTest: true,
				data: "Data for ID: 123",
			});
			assert.deepEqual(
				(await ask("resources/templates/list")).resourceTemplates[0].uriTemplate,
				"test://template/{id}/data",
			);
			assert.deepEqual(await ask("resources/subscribe", { uri: "test://watched-resource" }), {});
			while (!notifications.some(({ method }) => method === "notifications/resources/updated")) {
				await setTimeout(100);
				await ask("ping");
			}
			assert.deepEqual(await ask("resources/unsubscribe", { uri: "test://watched-resource" }), {});
		});

		it("reads the state and the pictures of the device", async (t) => {
			const { ask } = await open(t);
			const read = async (uri: string) => (await ask("resources/read", { uri })).contents[0];
			const { board, state, version, parts, uptime } = JSON.parse((await read("device://self/state")).text);
			assert.deepEqual([board, state, version], ["virtual", "idle", FIRMWARE.version]);
			const expected = ["speaker", "screen", "snapshot"];
			assert.deepEqual(
				parts.filter((part: string) => expected.includes(part)),
				expected,
			);
			assert.ok(uptime >= 0 && uptime < 30_000, `${uptime} ms`);
			for (const uri of ["device://self/screen", "device://self/camera"]) {
				const { blob, mimeType } = await read(uri);
				assert.equal(mimeType, "image/jpeg");
				assert.deepEqual([...Buffer.from(blob, "base64").subarray(0, 3)], [0xff, 0xd8, 0xff], uri);
			}
		});

		it("makes its prompts, and completes their arguments", async (t) => {
			const { ask } = await open(t);
			const get = async (name: string, args?: object) => (await ask("prompts/get", { name, arguments: args })).messages;
			assert.equal((await ask("prompts/list")).prompts.length, 5);
			assert.equal((await get("test_simple_prompt"))[0].content.text, "This is a simple prompt for testing.");
			assert.equal(
				(await get("test_prompt_with_arguments", { arg1: "hello", arg2: "world" }))[0].content.text,
				"Prompt with arguments: arg1='hello', arg2='world'",
			);
			const [embedded] = await get("test_prompt_with_embedded_resource", { resourceUri: "test://example-resource" });
			assert.equal(embedded.content.resource.uri, "test://example-resource");
			assert.equal((await get("test_prompt_with_image"))[0].content.type, "image");
			const { completion } = await ask("completion/complete", {
				ref: { type: "ref/prompt", name: "test_prompt_with_arguments" },
				argument: { name: "arg1", value: "par" },
			});
			assert.deepEqual(completion, { values: ["paris", "park", "party"], total: 3, hasMore: false });
		});

		it("changes its lists when it is asked to", async (t) => {
			const { call, notifications } = await open(t);
			await call("test_trigger_tool_change");
			await call("test_trigger_prompt_change");
			assert.deepEqual(
				notifications.map(({ method }) => method),
				["notifications/tools/list_changed", "notifications/prompts/list_changed"],
			);
		});
	});
}
