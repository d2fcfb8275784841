import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { bundle } from "../../virtual-device/src/index.js";
import { cases } from "../support/scope.js";
import { ENGINES, RawBackend, startDevice } from "./fixtures.js";

// How the firmware of host-test/fixtures/everything asks its client: in a session, and by requests that stand alone.

const script = await bundle(fileURLToPath(new URL("../fixtures/everything/main.ts", import.meta.url)));

/** A message, as the tests look at it. */
// biome-ignore lint/suspicious/noExplicitAny: tests read members that may not be there, and fail if they are not.
type Message = any;

const ALL = { elicitation: {}, sampling: {}, roots: {} };

const meta = (capabilities: object): object => ({
	"io.modelcontextprotocol/protocolVersion": "2026-07-28",
	"io.modelcontextprotocol/clientCapabilities": capabilities,
});

const SAMPLED = { role: "assistant", content: { type: "text", text: "Paris" }, model: "m" };

const accept = (content: object): object => ({ action: "accept", content });

for (const engine of cases(ENGINES)) {
	describe(`the fixture that asks its client, on ${engine.kind}`, () => {
		async function open(t: TestContext) {
			const backend = await RawBackend.listen(t);
			await startDevice(t, engine, { config: { backend: backend.url }, script });
			await backend.greet();
			let id = 0;
			const say = (message: object): void => backend.say({ type: "mcp", payload: { jsonrpc: "2.0", ...message } });
			const hear = async (): Promise<Message> => JSON.parse(await backend.hear()).payload;
			const ask = async (method: string, params: object): Promise<Message> => {
				id += 1;
				say({ id, method, params });
				for (;;) {
					const message = await hear();
					if (message.method === undefined || !message.method.startsWith("notifications/")) {
						return message;
					}
				}
			};
			const call = async (name: string, more: object = {}, capabilities: object = ALL): Promise<Message> =>
				ask("tools/call", { name, arguments: {}, _meta: meta(capabilities), ...more });
			return { say, hear, ask, call };
		}

		it("asks in a session of 2025-11-25 by its own requests", async (t) => {
			const { say, hear, ask } = await open(t);
			await ask("initialize", { protocolVersion: "2025-11-25", capabilities: ALL });
			const run = (name: string, args: object = {}): Promise<Message> => ask("tools/call", { name, arguments: args });
			const answerWith = async (question: Message, result: object): Promise<string> => {
				say({ id: question.id, result });
				return (await hear()).result.content[0].text;
			};
			const sampling = await run("test_sampling", { prompt: "Capital?" });
			assert.deepEqual(
				[sampling.method, sampling.params],
				[
					"sampling/createMessage",
					{ messages: [{ role: "user", content: { type: "text", text: "Capital?" } }], maxTokens: 100 },
				],
			);
			assert.equal(await answerWith(sampling, SAMPLED), "LLM response: Paris");
			const form = await run("test_elicitation", { message: "Who?" });
			assert.deepEqual(form.params.requestedSchema.required, ["username", "email"]);
			assert.equal(
				await answerWith(form, accept({ username: "ann", email: "a@b" })),
				'User response: action=accept, content={"username":"ann","email":"a@b"}',
			);
			const defaults = await run("test_elicitation_sep1034_defaults");
			assert.equal(defaults.params.requestedSchema.properties.score.default, 95.5);
			assert.match(await answerWith(defaults, accept({ age: 25 })), /"name":"John Doe","age":25/);
			const choices = await run("test_elicitation_sep1330_enums");
			const { legacyEnum, titledMulti } = choices.params.requestedSchema.properties;
			assert.deepEqual([legacyEnum.enumNames.length, titledMulti.items.anyOf.length], [3, 3]);
			assert.match(await answerWith(choices, { action: "cancel" }), /action=cancel/);
		});

		it("asks by input_required if the request stands alone, one question after the other or several at once", async (t) => {
			const { call } = await open(t);
			const name = (rest: string): string => `test_input_required_result_${rest}`;
			const ended = async (tool: string, first: Message, inputResponses: object): Promise<Message> =>
				(await call(name(tool), { requestState: first.requestState, inputResponses })).result;
			const started = async (tool: string): Promise<Message> => (await call(name(tool))).result;

			const answers: Record<string, object> = {
				elicitation: { user_name: accept({ name: "Alice" }) },
				sampling: { capital_question: SAMPLED },
				list_roots: { client_roots: { roots: [{ uri: "file:///r" }] } },
				request_state: { confirm: accept({ ok: true }) },
				multiple_inputs: {
					user_name: accept({ name: "Alice" }),
					greeting: SAMPLED,
					client_roots: { roots: [] },
				},
			};
			const texts: string[] = [];
			for (const [tool, inputResponses] of Object.entries(answers)) {
				const first = await started(tool);
				assert.deepEqual(Object.keys(first.inputRequests), Object.keys(inputResponses), tool);
				texts.push((await ended(tool, first, inputResponses)).content[0].text);
			}
			assert.deepEqual(texts, ["Hello, Alice!", "Paris", "file:///r", "state-ok: true", "accept, Paris, 0 roots"]);
			const first = await started("multi_round");
			const second = await ended("multi_round", first, { step1: accept({ name: "Alice" }) });
			assert.deepEqual(Object.keys(second.inputRequests), ["step2"]);
			assert.notEqual(second.requestState, first.requestState);
			const { content } = await ended("multi_round", second, { step2: accept({ color: "Blue" }) });
			assert.match(content[0].text, /"name":"Alice".*"color":"Blue"/);
		});

		it("rejects a tampered state, and asks only for declared capabilities", async (t) => {
			const { call } = await open(t);
			const { requestState } = (await call("test_input_required_result_tampered_state")).result;
			const tampered = { requestState: `${requestState}-TAMPERED`, inputResponses: { confirm: accept({ ok: true }) } };
			assert.equal((await call("test_input_required_result_tampered_state", tampered)).error.code, -32602);
			const { inputRequests } = (await call("test_input_required_result_capabilities", {}, { sampling: {} })).result;
			assert.deepEqual(Object.keys(inputRequests), ["greeting"]);
			const { error } = await call("test_missing_capability", {}, {});
			assert.deepEqual([error.code, error.data], [-32021, { requiredCapabilities: { sampling: {} } }]);
		});

		it("asks for a prompt's arguments", async (t) => {
			const { ask } = await open(t);
			const params = { name: "test_input_required_result_prompt", _meta: meta(ALL) };
			const { requestState } = (await ask("prompts/get", params)).result;
			const inputResponses = { user_context: accept({ context: "evening" }) };
			const { messages } = (await ask("prompts/get", { ...params, requestState, inputResponses })).result;
			assert.equal(messages[0].content.text, "Use this context: evening");
		});

		it("is discovered, and logs only on request", async (t) => {
			const { ask, say, hear } = await open(t);
			const { result } = await ask("server/discover", { _meta: meta({}) });
			assert.deepEqual(Object.keys(result.capabilities), ["tools", "resources", "prompts", "completions", "logging"]);
			say({ id: "l", method: "tools/call", params: { name: "test_logging_tool", _meta: meta({}) } });
			assert.equal((await hear()).id, "l");
			const level = { "io.modelcontextprotocol/logLevel": "error" };
			say({ id: "m", method: "tools/call", params: { name: "test_logging_tool", _meta: { ...meta({}), ...level } } });
			const { method, params } = await hear();
			assert.deepEqual(
				[method, params.level, params._meta],
				["notifications/message", "error", { "xs-mcp/requestId": "m" }],
			);
			assert.equal((await hear()).id, "m");
		});
	});
}
