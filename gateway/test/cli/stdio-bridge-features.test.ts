import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { until } from "../../../host-test/support/until.js";
import { startClient } from "../support/command-line.js";
import { FeatureDevice } from "../support/feature-device.js";
import { ERAS } from "../support/gateway.js";
import { startProgram } from "../support/program.js";

const QUESTION = {
	method: "elicitation/create",
	params: { mode: "form", message: "Your name?", requestedSchema: { type: "object", properties: {} } },
};

/** What a device answers that asks for a name and logs it. */
const ANSWERS = {
	"tools/list": () => ({ tools: [{ name: "greet", inputSchema: { type: "object" } }] }),
	"tools/call": ({ id, params: { inputResponses } }: { id: number; params: never }, device: FeatureDevice) => {
		if (inputResponses === undefined) {
			return { resultType: "input_required", inputRequests: { who: QUESTION }, requestState: "s" };
		}
		const { name } = (inputResponses as { who: { content: { name: string } } }).who.content;
		device.notify("notifications/message", { level: "info", data: name, _meta: { "xs-mcp/requestId": id } });
		return { resultType: "complete", content: [{ type: "text", text: `hello ${name}` }] };
	},
	"prompts/list": () => ({ prompts: [{ name: "evening" }] }),
	"prompts/get": () => ({ messages: [{ role: "user", content: { type: "text", text: "good evening" } }] }),
	"completion/complete": () => ({ completion: { values: ["calm"] } }),
};

describe("xs-mcp-gateway stdio, between a device with every feature and a client", { timeout: 120_000 }, () => {
	for (const era of Object.keys(ERAS) as (keyof typeof ERAS)[]) {
		it(`passes on prompts, completion, log messages and questions: ${era}`, async (t) => {
			const started = await startProgram(t);
			await FeatureDevice.connect(t, started, {
				capabilities: {
					...{ tools: {}, prompts: {}, completions: {}, logging: {} },
					experimental: { stateless: { supportedVersions: ["2026-07-28"] } },
				},
				answers: ANSWERS as never,
			});
			const known = () => started.gateway.servers.all[0]?.offers.prompts.length === 1;
			await until(known, "its prompts are known", 10_000);
			const environment = { XS_MCP_GATEWAY_URL: started.base };
			const options = { ...ERAS[era], capabilities: { elicitation: { form: {} } } };
			const { client } = await startClient(t, ["stdio"], environment, options);
			client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "Ada" } }));
			const messages: unknown[] = [];
			client.setNotificationHandler("notifications/message", ({ params }) => void messages.push(params.data));
			const name = "lamp_000001__evening";
			assert.deepEqual(
				(await client.listPrompts()).prompts.map((prompt) => prompt.name),
				[name],
			);
			assert.deepEqual((await client.getPrompt({ name })).messages[0]?.content, { type: "text", text: "good evening" });
			const { completion } = await client.complete({
				ref: { type: "ref/prompt", name },
				argument: { name: "mood", value: "c" },
			});
			assert.deepEqual(completion.values, ["calm"]);
			const _meta = { "io.modelcontextprotocol/logLevel": "info" };
			const { content } = await client.callTool({
				name: "lamp_000001__greet",
				...(era === "2026-07-28" && { _meta }),
			} as never);
			assert.deepEqual(content, [{ type: "text", text: "hello Ada" }]);
			await until(() => messages.length === 1, "the log message has come");
			assert.deepEqual(messages, ["Ada"]);
			await assert.rejects(client.getPrompt({ name: "nobody" }), { code: -32602 });
		});
	}
});
