import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { ClientOptions } from "@modelcontextprotocol/client";
import { cases } from "../../../host-test/support/scope.js";
import { type Answer, connectClient, ERAS, startGateway, type TestGateway, WireDevice } from "../testing/gateway.js";
import { postStateless } from "../testing/post-stateless.js";

const META = "io.modelcontextprotocol/";
const FIRST = "aa:bb:cc:00:00:01";

const QUESTION = {
	method: "elicitation/create",
	params: {
		mode: "form",
		message: "Your name?",
		requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
	},
};

/** Asks for a name, and answers with it. Its state is what the device must get back. */
const greet: Answer = ({ params: { arguments: args, _meta: meta, inputResponses, requestState } }) => {
	if (meta[`${META}clientCapabilities`].elicitation?.form === undefined) {
		const data = { requiredCapabilities: { elicitation: { form: {} } } };
		return { code: -32021, message: "the client cannot be asked", data };
	}
	if (inputResponses === undefined) {
		return { resultType: "input_required", inputRequests: { who: QUESTION }, requestState: `state of ${args.n}` };
	}
	if (requestState !== `state of ${args.n}`) {
		return { code: -32602, message: "Invalid or expired requestState", data: { reason: "invalid_request_state" } };
	}
	return { resultType: "complete", content: [{ type: "text", text: `hello ${inputResponses.who.content.name}` }] };
};

const connectDevice = (t: TestContext, side: TestGateway, id = FIRST) =>
	WireDevice.connect(t, side, {
		id,
		capabilities: {
			tools: {},
			resources: {},
			prompts: {},
			experimental: { stateless: { supportedVersions: ["2026-07-28"] } },
		},
		answers: {
			"tools/list": () => ({
				tools: ["greet", "other"].map((name) => ({ name, inputSchema: { type: "object" } })),
			}),
			"tools/call": greet,
			"prompts/list": () => ({ prompts: [{ name: "hello" }] }),
			"prompts/get": ({ params: { inputResponses } }) =>
				inputResponses === undefined
					? { resultType: "input_required", inputRequests: { who: QUESTION } }
					: {
							resultType: "complete",
							messages: [{ role: "user", content: { type: "text", text: inputResponses.who.content.name } }],
						},
		},
	});

async function start(
	t: TestContext,
	era: keyof typeof ERAS,
	options: ClientOptions = { capabilities: { elicitation: {} } },
) {
	const side = await startGateway(t);
	const device = await connectDevice(t, side);
	const client = await connectClient(t, side.clientUrl(), era, options);
	const asked: unknown[] = [];
	if (options.capabilities?.elicitation !== undefined) {
		client.setRequestHandler("elicitation/create", ({ params }) => {
			asked.push(params.message);
			return { action: "accept", content: { name: "Ada" } };
		});
	}
	return { device, client, asked };
}

const call = (n: number) => ({ name: "lamp_000001__greet", arguments: { n } });

for (const era of cases(Object.keys(ERAS) as (keyof typeof ERAS)[])) {
	describe(`a device that asks a client of ${era}`, () => {
		it("gets the answer, and its own state back", async (t) => {
			const { device, client, asked } = await start(t, era);
			const { content } = await client.callTool(call(1));
			assert.deepEqual([content, asked], [[{ type: "text", text: "hello Ada" }], ["Your name?"]]);
			const [first, second] = device.askedBy("tools/call").map(({ params }) => params);
			assert.equal(first._meta[`${META}protocolVersion`], "2026-07-28");
			assert.deepEqual(first._meta[`${META}clientCapabilities`], { elicitation: { form: {} } });
			assert.deepEqual([second.requestState, second.name], ["state of 1", "greet"]);
		});

		it("may ask during a call that was made by tool_call", async (t) => {
			const { client, asked } = await start(t, era);
			const { content } = await client.callTool({ name: "tool_call", arguments: call(1) });
			assert.deepEqual([content, asked], [[{ type: "text", text: "hello Ada" }], ["Your name?"]]);
		});

		it("may ask while it makes a prompt", async (t) => {
			const { client } = await start(t, era);
			const { messages } = await client.getPrompt({ name: "lamp_000001__hello" });
			assert.deepEqual(messages[0]?.content, { type: "text", text: "Ada" });
		});

		it("is told that the client cannot be asked, and the client what it lacks", async (t) => {
			const { device, client } = await start(t, era, {});
			const calling = client.callTool(call(1));
			if (era === "2026-07-28") {
				await assert.rejects(calling, {
					code: -32021,
					data: { requiredCapabilities: { elicitation: { form: {} } } },
				});
			} else {
				const { isError, content } = await calling;
				assert.ok(isError);
				assert.match(JSON.stringify(content), /cannot be asked/);
			}
			assert.deepEqual(device.askedBy("tools/call")[0]?.params._meta[`${META}clientCapabilities`], {});
		});
	});
}

describe("what a device wants back from a client", () => {
	async function send(side: TestGateway, params: { name: string; [member: string]: unknown }) {
		const capabilities = { elicitation: { form: {} } };
		return (await postStateless(side.clientUrl(), "tools/call", params, { capabilities })).message;
	}

	const inputResponses = { who: { action: "accept", content: { name: "Ada" } } };
	const ANSWERED = { error: { code: -32602, data: { reason: "invalid_request_state" } } };
	const reject = ({ error }: { error?: { code: number; data: unknown } }) => ({
		error: { code: error?.code, data: error?.data },
	});

	it("is signed, and worth nothing if it was changed", async (t) => {
		const side = await startGateway(t);
		const device = await connectDevice(t, side);
		const { result } = await send(side, call(1));
		const { requestState } = result;
		assert.equal(result.resultType, "input_required");
		assert.deepEqual(result.inputRequests.who, QUESTION);
		assert.notEqual(requestState, "state of 1");
		const asked = device.askedBy("tools/call").length;
		for (const changed of [`${requestState}x`, "state of 1", ""]) {
			assert.deepEqual(reject(await send(side, { ...call(1), inputResponses, requestState: changed })), ANSWERED);
		}
		assert.equal(device.askedBy("tools/call").length, asked, "the device is not asked");
		const { result: done } = await send(side, { ...call(1), inputResponses, requestState });
		assert.deepEqual(done.content, [{ type: "text", text: "hello Ada" }]);
	});

	it("is for the same client, the same tool and the same device", async (t) => {
		const side = await startGateway(t);
		await connectDevice(t, side);
		await connectDevice(t, side, "aa:bb:cc:00:00:02");
		const { requestState } = (await send(side, call(1))).result;
		for (const name of ["lamp_000001__other", "lamp_000002__greet"]) {
			assert.deepEqual(reject(await send(side, { ...call(1), name, inputResponses, requestState })), ANSWERED);
		}
		side.access = { principal: "somebody else", userTools: false };
		assert.deepEqual(reject(await send(side, { ...call(1), inputResponses, requestState })), ANSWERED);
	});
});
