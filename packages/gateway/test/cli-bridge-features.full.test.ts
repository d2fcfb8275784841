import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { cases } from "../../../host-test/support/scope.js";
import { until } from "../../../host-test/support/testing.js";
import { startClient } from "../testing/command-line.js";
import { type Answer, ERAS } from "../testing/gateway.js";
import { startProgramWithDevice } from "../testing/program.js";
import { subscribe } from "../testing/subscribe.js";

const META = "io.modelcontextprotocol/";

const INPUT_SCHEMA = { type: "object" };
const form = { mode: "form", message: "Your name?", requestedSchema: { type: "object", properties: {} } };
const sample = { messages: [{ role: "user", content: { type: "text", text: "hello" } }], maxTokens: 10 };

const QUESTIONS = {
	name: { method: "elicitation/create", params: form },
	model: { method: "sampling/createMessage", params: sample },
	folders: { method: "roots/list" },
};

/** Answers "ask" with what the client has answered, and "work" after a log message. */
const call: Answer = ({ id, params }, device) => {
	const { name, inputResponses, requestState, _meta: meta } = params;
	if (name === "work") {
		const requestId = { "xs-mcp/requestId": id };
		for (const level of ["debug", "warning"]) {
			device.notify("notifications/message", { level, data: `at ${level}`, _meta: requestId });
		}
		return { content: [], resultType: "complete" };
	}
	if (meta[`${META}clientCapabilities`].elicitation === undefined) {
		const data = { requiredCapabilities: { elicitation: { form: {} } } };
		return { code: -32021, message: "the client cannot be asked", data };
	}
	if (inputResponses === undefined) {
		return { resultType: "input_required", inputRequests: QUESTIONS, requestState: "waits" };
	}
	const { name: person, model, folders } = inputResponses;
	const answers = [person.content.name, model.model, folders.roots[0].uri, requestState];
	return { resultType: "complete", content: [], structuredContent: { answers } };
};

/** A client of a bridge to a gateway with one device that has every feature. */
async function start(t: TestContext, era: keyof typeof ERAS, canAnswer = true) {
	const { started, device } = await startProgramWithDevice(t, {
		capabilities: {
			tools: {},
			prompts: {},
			completions: {},
			logging: {},
			resources: { subscribe: true },
			experimental: { stateless: { supportedVersions: ["2026-07-28"] } },
		},
		answers: {
			"tools/list": () => ({
				tools: [
					{ name: "ask", inputSchema: INPUT_SCHEMA, outputSchema: { type: "object", required: ["answers"] } },
					{ name: "work", inputSchema: INPUT_SCHEMA },
				],
			}),
			"tools/call": call,
			"prompts/list": () => ({ prompts: [{ name: "evening" }] }),
			"prompts/get": ({ params }) => ({
				messages: [{ role: "user", content: { type: "text", text: `be ${params.arguments.mood}` } }],
				resultType: "complete",
			}),
			"completion/complete": () => ({ completion: { values: ["calm"] }, resultType: "complete" }),
			"resources/list": () => ({ resources: ["a", "b"].map((name) => ({ uri: `device://self/${name}`, name })) }),
			"resources/read": ({ params: { uri } }) => ({ contents: [{ uri, text: "" }], resultType: "complete" }),
		},
	});
	const capabilities = canAnswer ? { elicitation: { form: {} }, sampling: {}, roots: {} } : {};
	const environment = { XS_MCP_GATEWAY_URL: started.base };
	const { client } = await startClient(t, ["stdio"], environment, { ...ERAS[era], capabilities });
	if (canAnswer) {
		client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "Ada" } }));
		client.setRequestHandler("roots/list", () => ({ roots: [{ uri: "file:///plans" }] }));
		client.setRequestHandler("sampling/createMessage", () => ({
			role: "assistant",
			model: "small",
			content: { type: "text", text: "hi" },
		}));
	}
	return { client, device };
}

for (const era of cases(Object.keys(ERAS) as (keyof typeof ERAS)[])) {
	describe(`a bridge to a device with every feature, for a client of ${era}`, () => {
		it("passes prompts and completion on", async (t) => {
			const { client } = await start(t, era);
			const names = (await client.listPrompts()).prompts.map(({ name }) => name);
			assert.deepEqual(names, ["lamp_000001__evening"]);
			const { messages } = await client.getPrompt({ name: "lamp_000001__evening", arguments: { mood: "calm" } });
			assert.deepEqual(messages, [{ role: "user", content: { type: "text", text: "be calm" } }]);
			await assert.rejects(client.getPrompt({ name: "nobody__x" }), { code: -32_602 });
			const ref = { type: "ref/prompt", name: "lamp_000001__evening" } as const;
			const { completion } = await client.complete({ ref, argument: { name: "mood", value: "c" } });
			assert.deepEqual(completion.values, ["calm"]);
		});

		it("passes questions to the client on, and its answers", async (t) => {
			const { client } = await start(t, era);
			await client.listTools();
			const { structuredContent, isError } = await client.callTool({ name: "lamp_000001__ask" });
			assert.deepEqual(
				[structuredContent, isError],
				[{ answers: ["Ada", "small", "file:///plans", "waits"] }, undefined],
			);
		});

		it("says which capability the client lacks", async (t) => {
			const { client } = await start(t, era, false);
			const called = client.callTool({ name: "lamp_000001__ask" });
			if (era === "2026-07-28") {
				await assert.rejects(called, { code: -32_021 });
			} else {
				const { isError, content } = await called;
				assert.equal(isError, true);
				assert.match(JSON.stringify(content), /the client cannot be asked/);
			}
		});

		it("passes log messages of the level that the client wants on", async (t) => {
			const { client } = await start(t, era);
			const messages: unknown[] = [];
			client.setNotificationHandler("notifications/message", ({ params }) => void messages.push(params.data));
			if (era === "2025-11-25") {
				await client.callTool({ name: "lamp_000001__work" });
				await until(() => messages.length > 0, "it logs");
				assert.deepEqual(messages.splice(0), ["at warning"]);
				await client.setLoggingLevel("debug");
			}
			await client.callTool({ name: "lamp_000001__work", _meta: { [`${META}logLevel`]: "debug" } } as never);
			await until(() => messages.length === 2, "both messages have come");
			assert.deepEqual(messages, ["at debug", "at warning"]);
		});

		it("has the device asked for updates only as long as the client wants them", async (t) => {
			const { client, device } = await start(t, era);
			// An update may come twice while the bridge replaces its stream by one that also follows the second resource.
			const a = await subscribe(client, era, "device://lamp_000001/a");
			const b = await subscribe(client, era, "device://lamp_000001/b");
			// One handler takes the updates of both.
			const updates = () => new Set([...a.updates, ...b.updates].map(({ uri }) => uri));
			await until(() => device.askedBy("resources/subscribe").length === 2, "both are subscribed to");
			for (const name of ["a", "b"]) {
				device.notify("notifications/resources/updated", { uri: `device://self/${name}` });
			}
			await until(() => updates().size === 2, "the client is told of both");
			assert.deepEqual([...updates()].sort(), ["device://lamp_000001/a", "device://lamp_000001/b"]);
			await a.end();
			await until(() => device.askedBy("resources/unsubscribe").length === 1, "one is no longer subscribed to");
			assert.equal(device.askedBy("resources/unsubscribe")[0]?.params.uri, "device://self/a");
		});
	});
}
