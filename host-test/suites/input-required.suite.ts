import { elicit } from "../../src/mcp_server/features/elicit.js";
import { createPrompt, Prompts } from "../../src/mcp_server/features/prompts.js";
import { roots } from "../../src/mcp_server/features/roots.js";
import { sample } from "../../src/mcp_server/features/sample.js";
import { integer, string } from "../../src/mcp_server/schema.js";
import type { ToolCall } from "../../src/mcp_server/tool-call.js";
import { meta, statelessClient, tool, type Wire } from "../doubles/client.js";
import { equal, settled, suite } from "../harness.js";

const makeTool = (run: (call: ToolCall) => Promise<string>, name = "t") =>
	tool(name, (_args, _context, call) => run(call));

const askName = (call: ToolCall) =>
	elicit(call, { key: "name", message: "Your name?", fields: { name: string({ minLength: 1 }) } });

const greeter = makeTool(async (call) => {
	const answer = await askName(call);
	return answer.action === "accept" ? `Hello, ${answer.content.name}!` : answer.action;
});

const accept = (content: object) => ({ action: "accept", content });
const inputResponses = { name: accept({ name: "Ann" }) };

function makeWaiting() {
	const met = { error: "" };
	const waiting = makeTool(async (call) => {
		await askName(call).catch((error: Error) => {
			met.error = error.name;
		});
		return "";
	});
	return { waiting, met };
}

function connect({ client, timer }: ReturnType<typeof statelessClient>, owner: object) {
	const heard: Wire[] = [];
	const session = client.server.open({ owner, send: (text) => heard.push(JSON.parse(String(text))) });
	const call = async (more: object): Promise<void> => {
		session.receive({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "t", _meta: meta(), ...more } });
		await settled();
		await timer.passed(0);
	};
	return { session, heard, call };
}

const textOf = ({ result }: Wire): string => result.content[0].text;

export default suite("input_required of MCP 2026-07-28", {
	async "a tool that asks is answered with the question, and goes on with the answer"() {
		const { call } = statelessClient({ tools: [greeter] });
		const { resultType, inputRequests, requestState } = (await call("t")).result;
		equal(resultType, "input_required");
		equal(inputRequests, {
			name: {
				method: "elicitation/create",
				params: {
					message: "Your name?",
					requestedSchema: {
						type: "object",
						properties: { name: { type: "string", minLength: 1 } },
						required: ["name"],
					},
				},
			},
		});
		const done = await call("t", { requestState, inputResponses });
		equal([done.result.resultType, textOf(done)], ["complete", "Hello, Ann!"]);
	},
	async "several questions are asked at once, and further ones in the next round"() {
		const inputClient = makeTool(async (call) => {
			const [first, { text }, [root]] = await Promise.all([
				askName(call),
				sample(call, { key: "greeting", messages: "Greet", maxTokens: 50 }),
				roots(call, { key: "roots" }),
			]);
			const second = await elicit(call, { message: "Age?", fields: { age: integer() } });
			return JSON.stringify([first, text, root, second]);
		});
		const { call } = statelessClient({ tools: [inputClient] });
		const first = (await call("t")).result;
		equal(Object.keys(first.inputRequests), ["name", "greeting", "roots"]);
		equal(first.inputRequests.greeting, {
			method: "sampling/createMessage",
			params: { messages: [{ role: "user", content: { type: "text", text: "Greet" } }], maxTokens: 50 },
		});
		equal(first.inputRequests.roots, { method: "roots/list", params: {} });
		const second = (
			await call("t", {
				requestState: first.requestState,
				inputResponses: {
					name: accept({ name: "Ann" }),
					greeting: { role: "assistant", content: { type: "text", text: "Hi" }, model: "m", stopReason: "endTurn" },
					roots: { roots: [{ uri: "file:///r", name: "R" }] },
				},
			})
		).result;
		equal([Object.keys(second.inputRequests), second.requestState === first.requestState], [["q4"], false]);
		const done = await call("t", {
			requestState: second.requestState,
			inputResponses: { q4: { action: "decline" } },
		});
		equal(JSON.parse(textOf(done)), [
			accept({ name: "Ann" }),
			"Hi",
			{ uri: "file:///r", name: "R" },
			{ action: "decline" },
		]);
	},
	async "answers that are missing or do not fit are asked for again, and unknown ones ignored"() {
		const { call } = statelessClient({ tools: [greeter] });
		let { requestState } = (await call("t")).result;
		for (const wrong of [{ other: accept({}) }, { name: 5 }, { name: accept({ name: "" }) }, {}]) {
			const { result } = await call("t", { requestState, inputResponses: wrong });
			equal([result.resultType, Object.keys(result.inputRequests)], ["input_required", ["name"]]);
			requestState = result.requestState;
		}
		const more = { name: accept({ name: "Ann", shoe: 39 }), more: accept({}) };
		equal(textOf(await call("t", { requestState, inputResponses: more })), "Hello, Ann!");
	},
	async "answers may come with the first request"() {
		const { call, heard } = connect(statelessClient({ tools: [greeter] }), {});
		await call({ inputResponses });
		equal(textOf(heard.at(-1)), "Hello, Ann!");
		await call({ inputResponses: 5 });
		equal(heard.at(-1).error.message, "inputResponses: expected an object");
	},
	async "a state that the device did not give, or gave for something else, is rejected"() {
		const { call, ask } = statelessClient({ tools: [greeter, makeTool(async () => "", "u")] });
		const { requestState } = (await call("t")).result;
		for (const rejected of [
			await call("t", { requestState: `${requestState}-TAMPERED`, inputResponses }),
			await call("u", { requestState, inputResponses }),
			await ask("prompts/get", { name: "t", requestState, inputResponses }),
			await call("t", { requestState: 5 }),
		]) {
			equal([rejected.error.code, rejected.error.data], [-32602, { reason: "invalid_request_state" }]);
		}
		equal(textOf(await call("t", { requestState, inputResponses })), "Hello, Ann!");
		equal((await call("t", { requestState, inputResponses })).error.code, -32602);
	},
	async "a capability that the client has not declared is named in the error"() {
		const sampler = makeTool(async (call) => (await sample(call, { messages: "", maxTokens: 1 })).text);
		const visitor = makeTool(async (call) => (await elicit(call, { message: "Pay", url: "https://pay" })).action, "v");
		const { call } = statelessClient({ tools: [sampler, visitor, greeter].slice(0, 2) });
		const missing = async (name: string, capabilities: object) => {
			const { code, data } = (await call(name, {}, meta(capabilities))).error;
			return [code, data.requiredCapabilities];
		};
		equal(await missing("t", { elicitation: {} }), [-32021, { sampling: {} }]);
		equal(await missing("v", { elicitation: {} }), [-32021, { elicitation: { url: {} } }]);
		const { inputRequests } = (await call("v", {}, meta({ elicitation: { url: {} } }))).result;
		equal(inputRequests.q1.params, { mode: "url", message: "Pay", url: "https://pay" });
	},
	async "an answer is used once: the same question is asked again"() {
		const twice = makeTool(async (call) => {
			await askName(call);
			return (await askName(call)).action;
		});
		const { call, heard } = connect(statelessClient({ tools: [twice] }), {});
		await call({ inputResponses });
		const { resultType, requestState } = heard.at(-1).result;
		equal(resultType, "input_required");
		await call({ requestState, inputResponses });
		equal(textOf(heard.at(-1)), "accept");
	},
	async "answers that cannot be read leave the call waiting"() {
		const { call } = statelessClient({ tools: [greeter] });
		const { requestState } = (await call("t")).result;
		equal((await call("t", { requestState, inputResponses: [] })).error.code, -32602);
		equal(textOf(await call("t", { requestState, inputResponses })), "Hello, Ann!");
	},
	async "a prompt may ask, too"() {
		const prompt = createPrompt<undefined, Record<never, never>>({
			name: "p",
			get: async (_args, _context, call) => JSON.stringify(await askName(call)),
		});
		const { ask } = statelessClient({ features: [new Prompts<undefined>([prompt])] });
		const { requestState } = (await ask("prompts/get", { name: "p" })).result;
		const { result } = await ask("prompts/get", { name: "p", requestState, inputResponses });
		equal(JSON.parse(result.messages[0].content.text), accept({ name: "Ann" }));
	},
	async "a call that waits five minutes for its client is cancelled"() {
		const { waiting, met } = makeWaiting();
		const { call, client, timer } = statelessClient({ tools: [waiting] });
		const { requestState } = (await call("t")).result;
		await timer.passed(299_999);
		equal([met.error, client.session.calls.length], ["", 1]);
		await timer.passed(1);
		equal([met.error, client.session.calls.length], ["CallCancelled", 0]);
		const { error } = await call("t", { requestState, inputResponses });
		equal([error.code, timer.size], [-32602, 0]);
	},
	async "a call that waited too long cannot be resumed, even if its tool does not end"() {
		const stubborn = makeTool(async (call) => {
			await askName(call).catch(() => {});
			return await new Promise(() => {});
		});
		const { call, timer } = statelessClient({ tools: [stubborn] });
		const { requestState } = (await call("t")).result;
		await timer.passed(300_000);
		const { error } = await call("t", { requestState, inputResponses });
		equal([error.code, timer.size], [-32602, 0]);
	},
	async "of more calls than may wait, four, the oldest is cancelled"() {
		const { call, timer } = statelessClient({ tools: [greeter] });
		const states: string[] = [];
		for (let at = 0; at < 5; at += 1) {
			states.push((await call("t")).result.requestState);
		}
		equal(new Set(states.map((state) => state.split("-")[0])).size, 5);
		const [cancelled, ...others] = states;
		equal((await call("t", { requestState: cancelled, inputResponses })).error.code, -32602);
		for (const requestState of others) {
			equal(textOf(await call("t", { requestState, inputResponses })), "Hello, Ann!");
		}
		equal(timer.size, 0);
	},
	async "a call that asks again waits for its client on any connection"() {
		const reasons: string[] = [];
		const inputClient = makeTool(async (call) => {
			call.onCancel = () => void reasons.push("cancelled");
			await askName(call);
			return (await askName(call)).action;
		});
		const made = statelessClient({ tools: [inputClient] });
		const first = (await made.call("t")).result;
		const other = connect(made, made.client.session);
		await other.call({ requestState: first.requestState, inputResponses });
		const { resultType, requestState } = other.heard[0].result;
		equal(resultType, "input_required");
		other.session.close();
		await settled();
		equal(reasons, []);
		equal(textOf(await made.call("t", { requestState, inputResponses })), "accept");
	},
	async "a call that has gone on over another connection ends with that one"() {
		const cancelled: string[] = [];
		const worker = makeTool(async (call) => {
			call.onCancel = () => void cancelled.push("t");
			await roots(call);
			await call.sleep(60_000);
			return "done";
		});
		const made = statelessClient({ tools: [worker] });
		const owner = {};
		const [first, second] = [connect(made, owner), connect(made, owner)];
		await first.call({});
		const { requestState } = (first.heard[0] as Wire).result;
		await second.call({ requestState, inputResponses: { q1: { roots: [] } } });
		equal([cancelled, second.heard], [[], []]);
		const third = connect(made, owner);
		third.session.close();
		await settled();
		equal(cancelled, []);
		second.session.close();
		await settled();
		equal([cancelled, made.timer.size], [["t"], 0]);
	},
	async "a call that waits ends with its connection, and cannot be cancelled by the id of an answered request"() {
		const { waiting, met } = makeWaiting();
		const { client, call, timer, lastId } = statelessClient({ tools: [waiting] });
		await call("t");
		client.cancel(lastId());
		await settled();
		equal(met.error, "");
		client.session.close();
		await settled();
		equal([met.error, timer.size], ["CallCancelled", 0]);
	},
	async "a tool that fails to stop does not keep others from asking"() {
		const stubborn = makeTool(async (call) => {
			call.onCancel = () => {
				throw new Error("stuck");
			};
			return (await askName(call)).action;
		});
		const { call, client } = statelessClient({ tools: [stubborn] });
		for (let at = 0; at < 4; at += 1) {
			await call("t");
		}
		equal((await call("t")).result.resultType, "input_required");
		equal(client.log.slice(0, 1), ["tools/call: failed to cancel: Error: stuck"]);
	},
	async "a question that is not JSON, or has the key of one that is open, fails the call"() {
		const twice = makeTool(async (call) => (await Promise.all([askName(call), askName(call)])).join());
		const circular: { type: "object"; self?: object } = { type: "object" };
		circular.self = circular;
		const bad = makeTool(
			async (call) => (await elicit(call, { message: "", fields: {}, requestedSchema: circular })).action,
			"u",
		);
		const { call } = statelessClient({ tools: [twice, bad] });
		equal(textOf(await call("t")), "question name is already open");
		equal((await call("u")).result.isError, true);
	},
	async "progress after a round names the token of the request that brought the answers"() {
		const inputClient = makeTool(async (call) => {
			await askName(call);
			call.progress(1);
			return "";
		});
		const { call, send } = statelessClient({ tools: [inputClient] });
		const { requestState } = (await call("t", {}, meta(undefined, { progressToken: "a" }))).result;
		const params = { name: "t", requestState, inputResponses };
		const [report] = await send("tools/call", params, meta(undefined, { progressToken: "b" }));
		equal(report.params.progressToken, "b");
	},
});
