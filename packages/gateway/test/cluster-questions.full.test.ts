import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { Client, type FetchLike, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { startAskingUpstream } from "../testing/asking-upstream.js";
import { type Answer, ERAS, WireDevice } from "../testing/gateway.js";
import { startCluster, untilAt } from "../testing/gateways.js";
import { NatsServer, whyNoNats } from "../testing/nats-server.js";
import { makeServersFile, type StartedProgram } from "../testing/program.js";

const NAME_FORM = {
	method: "elicitation/create",
	params: {
		mode: "form",
		message: "Your name?",
		requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
	},
};

/** Asks for a name, and answers with it if its own state has come back. */
const greet: Answer = ({ params: { inputResponses, requestState } }) =>
	inputResponses === undefined
		? { resultType: "input_required", inputRequests: { who: NAME_FORM }, requestState: "state of the lamp" }
		: {
				resultType: "complete",
				content: [{ type: "text", text: `${requestState}: ${inputResponses.who.content.name}` }],
			};

const STATELESS = {
	capabilities: { tools: {}, experimental: { stateless: { supportedVersions: ["2026-07-28"] } } },
	answers: {
		"tools/list": () => ({ tools: [{ name: "greet", inputSchema: { type: "object" } }] }),
		"tools/call": greet,
	},
};

/** Gateways of one cluster, each with its device-key. */
const startTwo = async (t: TestContext, keys: readonly string[], flags = {}): Promise<StartedProgram[]> =>
	await startCluster(t, await NatsServer.start(t), ["a", "b"], { drainTime: 0, ...flags }, keys);

/** A client of 2026-07-28 whose requests go to one gateway, and its answers to questions to another. */
async function connect(t: TestContext, calls: StartedProgram, answers: StartedProgram): Promise<Client> {
	const client = new Client(
		{ name: "test", version: "1" },
		{ ...ERAS["2026-07-28"], capabilities: { elicitation: { form: {} } } },
	);
	t.after(() => client.close());
	client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "Ada" } }));
	const fetchFrom: FetchLike = (url, init) => {
		const isAnswer = String(init?.body).includes('"requestState"');
		return fetch(isAnswer ? `${answers.base}${new URL(url).pathname}` : url, init);
	};
	await client.connect(new StreamableHTTPClientTransport(new URL(`${calls.base}/mcp`), { fetch: fetchFrom }));
	return client;
}

describe("the answer to a question in a cluster", { skip: whyNoNats }, () => {
	it("is taken by any gateway, wherever the device is", async (t) => {
		const [a, b] = (await startTwo(t, ["1", "1"])) as [StartedProgram, StartedProgram];
		const device = await WireDevice.connect(t, a, STATELESS);
		await untilAt(b, "a");
		for (const [calls, answers] of [
			[a, b],
			[b, a],
			[b, b],
		] as const) {
			const client = await connect(t, calls, answers);
			const { content } = await client.callTool({ name: "lamp_000001__greet" });
			assert.deepEqual(content, [{ type: "text", text: "state of the lamp: Ada" }]);
		}
		assert.equal(device.askedBy("tools/call").length, 6);
	});

	it("is rejected by a gateway with another device-key, and never reaches the device", async (t) => {
		const [a, b] = (await startTwo(t, ["1", "2"])) as [StartedProgram, StartedProgram];
		const device = await WireDevice.connect(t, a, STATELESS);
		await untilAt(b, "a");
		const client = await connect(t, a, b);
		await assert.rejects(client.callTool({ name: "lamp_000001__greet" }), {
			code: -32602,
			data: { reason: "invalid_request_state" },
		});
		assert.equal(device.askedBy("tools/call").length, 1);
	});

	it("is taken only by the gateway that called, if the server asked in its session: others say so", async (t) => {
		const { url } = await startAskingUpstream(t);
		const serversFile = makeServersFile({ up: { url } });
		const [a, b] = (await startTwo(t, ["1", "1"], { serversFile })) as [StartedProgram, StartedProgram];
		const call = { name: "up__ask", arguments: NAME_FORM };
		const { isError } = await (await connect(t, a, a)).callTool(call);
		assert.notEqual(isError, true);
		await assert.rejects((await connect(t, a, b)).callTool(call), {
			code: -32602,
			message: /waits for the answer at another gateway of the cluster/,
			data: { reason: "invalid_request_state" },
		});
	});
});
