import { ClientRequests } from "../../src/mcp_server/features/client-requests.js";
import { elicit } from "../../src/mcp_server/features/elicit.js";
import { roots } from "../../src/mcp_server/features/roots.js";
import { sample } from "../../src/mcp_server/features/sample.js";
import { integer } from "../../src/mcp_server/schema.js";
import type { ToolCall } from "../../src/mcp_server/tool-call.js";
import { ALL, Client, clientWith, tool, type Wire } from "../doubles/client.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { equal, given, matches, settled, suite } from "../harness.js";

const askAge = (call: ToolCall) => elicit(call, { message: "Age?", fields: { age: integer() } });

function makeClient(run: (call: ToolCall) => Promise<unknown>, capabilities: object = ALL) {
	const timer = new FakeTimer();
	const asking = tool("t", async (_args, _context, call) => JSON.stringify(await run(call)));
	const features = [new ClientRequests()];
	const client = new Client<undefined>({ context: undefined, tools: [asking], features, timer });
	client.initialize("2025-11-25", capabilities);
	const say = async (message: object): Promise<Wire[]> => {
		const heard = client.say(JSON.stringify({ jsonrpc: "2.0", ...message }));
		await settled();
		return [...heard, ...client.heard()];
	};
	const call = async (id: number | string = 1) => (await say({ id, method: "tools/call", params: { name: "t" } }))[0];
	return { client, timer, say, call };
}

const textOf = (message: Wire | undefined): string => message.result.content[0].text;

const asking = () => makeClient(askAge);

export default suite("requests to the client, until MCP 2025-11-25", {
	"a tool that asks sends a request, and goes on with the response": given(asking, async ({ call, say }) => {
		const request = await call();
		equal([request.id, request.method, request.params.message], ["s1", "elicitation/create", "Age?"]);
		equal(request.params.requestedSchema, {
			type: "object",
			properties: { age: { type: "integer" } },
			required: ["age"],
		});
		const accepted = { action: "accept", content: { age: 7 } };
		const [answer] = await say({ id: "s1", result: accepted });
		equal([answer.id, JSON.parse(textOf(answer))], [1, accepted]);
	}),
	async "a page to visit has an id that later messages can name"() {
		const { call } = makeClient((call) => elicit(call, { message: "Pay", url: "https://pay" }));
		const { mode, url, elicitationId } = (await call()).params;
		equal([mode, url, typeof elicitationId], ["url", "https://pay", "string"]);
	},
	async "a question that is too long for the connection fails at once"() {
		const { client, call } = makeClient((call) =>
			elicit(call, { message: "?".repeat(500), fields: { age: integer() } }),
		);
		client.session.maxBytes = 500;
		const { isError, content } = (await call()).result;
		equal(isError, true);
		matches(content[0].text, /elicitation\/create: the question is too long for the connection \(limit 500 bytes\)/);
	},
	async "the model and the roots of the client are asked the same way"() {
		const { call, say } = makeClient(async (call) => {
			const { text, model } = await sample(call, { messages: "Hi", maxTokens: 5 });
			return [text, model, await roots(call)];
		});
		equal((await call()).method, "sampling/createMessage");
		const content = { type: "text", text: "Hello" };
		const [next] = await say({ id: "s1", result: { role: "assistant", content, model: "m" } });
		equal([next.id, next.method], ["s2", "roots/list"]);
		const [answer] = await say({ id: "s2", result: { roots: [{ uri: "file:///r" }] } });
		equal(JSON.parse(textOf(answer)), ["Hello", "m", [{ uri: "file:///r" }]]);
	},
	async "an answer of the model has an object as content; text, model and reason may be missing"() {
		const { call, say } = makeClient((call) => sample(call, { messages: "Hi", maxTokens: 5 }));
		const answers: unknown[] = [];
		const image = { type: "image", data: "" };
		for (const [at, result] of [
			{ content: image, stopReason: "maxTokens" },
			{ content: image, model: 5, stopReason: 5 },
			{ content: "Hello", model: "m" },
			{ model: "m" },
		].entries()) {
			await call();
			const [answer] = await say({ id: `s${at + 1}`, result });
			answers.push(answer.result.isError ? textOf(answer) : JSON.parse(textOf(answer)));
		}
		const misfit = "invalid answer to sampling/createMessage from the client: content: expected an object";
		equal(answers, [
			{ text: "", content: image, model: "", stopReason: "maxTokens" },
			{ text: "", content: image, model: "" },
			misfit,
			misfit,
		]);
	},
	async "an answer of the model may be a list of contents, whose texts are joined"() {
		const { call, say } = makeClient((call) => sample(call, { messages: "Hi", maxTokens: 5 }));
		const content = [
			{ type: "text", text: "Hel" },
			{ type: "image", data: "" },
			{ type: "text", text: "lo" },
		];
		await call();
		const [answer] = await say({ id: "s1", result: { role: "assistant", content, model: "m" } });
		equal(JSON.parse(textOf(answer)), { text: "Hello", content, model: "m" });
		await call();
		const [misfit] = await say({ id: "s2", result: { role: "assistant", content: [content, "x"], model: "m" } });
		matches(textOf(misfit), /content: expected an object$/);
	},
	async "roots that are not what MCP says fail the call"() {
		const { call, say } = makeClient((call) => roots(call));
		const cases: unknown[] = ["file:///r", [5], [null], [{}], [{ uri: 5 }], [{ uri: "file:///r" }, { name: "r" }]];
		for (const [at, each] of cases.entries()) {
			equal((await call()).method, "roots/list");
			const [answer] = await say({ id: `s${at + 1}`, result: { roots: each } });
			equal(answer.result.isError, true, JSON.stringify(each));
			matches(textOf(answer), at === 0 ? /expected an array$/ : /expected objects with a uri$/);
			matches(textOf(answer), /^invalid answer to roots\/list from the client: /);
		}
	},
	async "a client that has not declared the capability is not asked: the call fails"() {
		const { call } = makeClient(askAge, { sampling: {} });
		const answer = await call();
		equal(answer.result.isError, true);
		equal(textOf(answer), "the client has not declared the capability elicitation.form");
	},
	"an error, or an answer that does not fit, fails the call": given(asking, async ({ call, say }) => {
		const unanswered = "the client did not answer elicitation/create: ";
		const invalid = "invalid answer to elicitation/create from the client: ";
		for (const [at, [response, words]] of [
			[{ error: { code: -1, message: "rejected by the user" } }, `${unanswered}rejected by the user`],
			[{ error: { code: -1 } }, `${unanswered}no result`],
			[{ result: "yes" }, `${unanswered}no result`],
			[{ error: "no" }, `${unanswered}no result`],
			[{ result: { action: "maybe" } }, `${invalid}action: expected accept, decline or cancel`],
			[{ result: { action: "accept", content: { age: "old" } } }, `${invalid}age: expected an integer, got "old"`],
		].entries()) {
			await call();
			const [answer] = await say({ id: `s${at + 1}`, ...(response as object) });
			equal(textOf(answer), words);
		}
	}),
	"a response that the server did not ask for is logged": given(asking, async ({ call, say, client }) => {
		await call();
		equal(await say({ id: "s9", result: { action: "decline" } }), []);
		equal(await say({ id: "s1", result: { action: "decline" } }).then((heard) => heard.length), 1);
		equal(await say({ id: "s1", result: { action: "decline" } }), []);
		equal(client.log, ['unexpected response, id "s9": dropped', 'unexpected response, id "s1": dropped']);
	}),
	async "ping and the list of tools are answered while as many calls wait as may"() {
		const { call, say } = makeClient(() => new Promise(() => {}));
		for (let id = 1; id <= 16; id += 1) {
			await call(id);
		}
		equal((await call(17)).error.code, -32000);
		equal((await say({ id: 18, method: "ping" }))[0].result, {});
		equal((await say({ id: 19, method: "tools/list" }))[0].result.tools.length, 1);
	},
	async "a client that does not answer in time is told, and the call fails"() {
		const { call, client, timer } = makeClient(askAge);
		await call();
		await timer.passed(300_000);
		const [cancelled, answer] = client.heard();
		equal([cancelled.method, cancelled.params], ["notifications/cancelled", { requestId: "s1" }]);
		equal(textOf(answer), "the client did not answer elicitation/create within 300 s");
		equal(timer.size, 0);
	},
	"if the call is cancelled, so is the request to the client": given(asking, async ({ call, say, timer }) => {
		await call(5);
		const heard = await say({ method: "notifications/cancelled", params: { requestId: 5 } });
		const cancelled = heard.map(({ method, params }) => [method, params]);
		equal(cancelled, [["notifications/cancelled", { requestId: "s1" }]]);
		equal(timer.size, 0);
		equal(await say({ id: "s1", result: { action: "accept", content: { age: 7 } } }), []);
	}),
	async "a request that the tool does not wait for is cancelled as the call ends"() {
		const { call, say } = makeClient(async (call) => {
			void askAge(call);
			return true;
		});
		equal((await call()).id, "s1");
		const heard = await say({ id: 9, method: "ping" });
		equal(heard.length, 1);
	},
	"only the session that was asked can answer": given(asking, async ({ call, client, say }) => {
		await call();
		const others: string[] = [];
		const other = client.server.open({ send: (text) => others.push(String(text)) });
		other.receive({ jsonrpc: "2.0", id: "s1", result: { action: "decline" } });
		await settled();
		equal([client.heard(), others], [[], []]);
		const [answer] = await say({ id: "s1", result: { action: "cancel" } });
		equal(JSON.parse(textOf(answer)), { action: "cancel" });
	}),
	async "requests to a client whose session ends make room for those to others"() {
		const { call, client } = makeClient(askAge);
		const heard: Wire[] = [];
		const other = client.server.open({ send: (text) => heard.push(JSON.parse(String(text))) });
		other.receive({ jsonrpc: "2.0", id: 0, method: "initialize", params: { capabilities: ALL } });
		for (let id = 1; id <= 8; id += 1) {
			other.receive({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "t" } });
		}
		await settled();
		equal(heard.at(-1).method, "elicitation/create");
		equal(textOf(await call()), "too many open requests to clients (limit 8)");
		other.close();
		equal((await call()).method, "elicitation/create");
	},
	async "a request that was answered is no longer open, and its time ends"() {
		const { call, say, timer } = makeClient(askAge);
		for (let count = 1; count <= 9; count += 1) {
			const id = `s${count}`;
			equal((await call()).id, id);
			await say({ id, result: { action: "decline" } });
			equal(timer.size, 0);
		}
	},
	async "a server without the feature fails the call"() {
		const client = clientWith(tool("t", (_args, _context, call) => roots(call)));
		client.initialize("2025-11-25", ALL);
		const [answer] = await client.request("tools/call", { name: "t" });
		equal(textOf(answer), "this device cannot send requests to a client of MCP 2025-11-25");
	},
});
