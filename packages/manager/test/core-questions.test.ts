import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Client, type ClientCapabilities, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/client";
import { type Question, Questions } from "../src/core/asking.js";
import type { PendingRequest, RequestContext } from "../src/core/connection.js";
import { FakeConnection } from "../testing/fake-connection.js";

const EVERYTHING = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

type Handler = (request: { params?: object }, context: { mcpReq: { signal: AbortSignal } }) => Promise<object>;

/** A connection to a server that asks questions. */
function makeQuestions(capabilities: ClientCapabilities = EVERYTHING) {
	const handlers = new Map<string, Handler>();
	const client = { setRequestHandler: (method: string, handler: Handler) => handlers.set(method, handler) };
	const connection = new AskingConnection();
	const questions = new Questions(client as unknown as Client, capabilities, connection.requests);
	const ask = async ({ method, params }: Question): Promise<object> => {
		const handler = handlers.get(method) as Handler;
		return await handler({ ...(params && { params }) }, { mcpReq: { signal: new AbortController().signal } });
	};
	/** Makes a request, during which a function runs. */
	const request = async <Result>(
		inputClient: RequestContext | undefined,
		context: RequestContext,
		run: (pending: PendingRequest) => Promise<Result>,
	): Promise<Result> => {
		const call = { method: "tools/call", params: { name: "t" } };
		const answer = connection.request(call, { ...context, ...inputClient });
		const pending = connection.asked.at(-1) as PendingRequest;
		answer.catch(() => {});
		try {
			return await questions.during(pending, () => run(pending));
		} finally {
			pending.answered({ result: { content: [] } });
		}
	};
	return { request, ask, methods: [...handlers.keys()] };
}

class AskingConnection extends FakeConnection {
	readonly requests = this.pending;
}

/** A client that answers everything it is asked. */
function inputClient(capabilities: ClientCapabilities, session: object = {}): RequestContext {
	return { capabilities, session, ask: async ({ method }) => ({ answer: method }) };
}

const OPTIONS = { timeout: 60_000 };
const ELICIT: Question = { method: "elicitation/create", params: { message: "Name?" } };
const ELICIT_URL: Question = { method: "elicitation/create", params: { mode: "url", url: "https://example.com" } };
const SAMPLE: Question = { method: "sampling/createMessage" };
const ROOTS: Question = { method: "roots/list" };

/** Whether a client with these capabilities is asked a question. */
async function isAsked(capabilities: ClientCapabilities, question: Question): Promise<boolean> {
	const { request, ask } = makeQuestions();
	return await request(inputClient(capabilities), OPTIONS, async () => {
		try {
			await ask(question);
			return true;
		} catch (error) {
			assert.ok(error instanceof ProtocolError);
			assert.equal(error.code, ProtocolErrorCode.MethodNotFound);
			return false;
		}
	});
}

describe("a server's questions", () => {
	it("are expected within the capabilities that the server was told", async () => {
		const { request, ask, methods } = makeQuestions({ roots: {} });
		assert.deepEqual(methods, ["roots/list"]);
		await request(inputClient(EVERYTHING), OPTIONS, () => ask(ROOTS));
		assert.deepEqual(makeQuestions({}).methods, []);
	});

	it("reach a client that has their capability", async () => {
		for (const [capabilities, asked] of [
			[{}, [false, false, false, false]],
			[{ sampling: {} }, [false, false, true, false]],
			[{ roots: {} }, [false, false, false, true]],
			// Before 2026-07-28, forms alone.
			[{ elicitation: {} }, [true, false, false, false]],
			[{ elicitation: { form: {} } }, [true, false, false, false]],
			[{ elicitation: { url: {} } }, [false, true, false, false]],
			[{ elicitation: { form: {}, url: {} } }, [true, true, false, false]],
		] as const) {
			const answers = await Promise.all(
				[ELICIT, ELICIT_URL, SAMPLE, ROOTS].map((question) => isAsked(capabilities, question)),
			);
			assert.deepEqual(answers, asked, JSON.stringify(capabilities));
		}
	});

	it("that name no request reach the client of all requests in progress", async () => {
		const { request, ask } = makeQuestions();
		await assert.rejects(ask(ROOTS), /no request of a client is in progress/);
		const client = {};
		const ends: (() => void)[] = [];
		const begin = (each: RequestContext): Promise<void> =>
			request(each, OPTIONS, () => new Promise<void>((resolve) => ends.push(resolve)));
		const first = begin(inputClient(EVERYTHING, client));
		const second = begin(inputClient(EVERYTHING, client));
		assert.deepEqual(await ask(ROOTS), { answer: "roots/list" });
		const third = begin(inputClient(EVERYTHING));
		await assert.rejects(ask(ROOTS), /requests of several clients are in progress/);
		ends[2]?.();
		await third;
		assert.deepEqual(await ask(ROOTS), { answer: "roots/list" });
		for (const end of ends) {
			end();
		}
		await Promise.all([first, second]);
		await assert.rejects(ask(ROOTS), /no request of a client is in progress/);
	});

	it("stop the time of their request until they are answered", async (t) => {
		t.mock.timers.enable({ apis: ["setTimeout"] });
		const { request, ask } = makeQuestions();
		let answer = (_result: object): void => {};
		const slow: RequestContext = {
			capabilities: EVERYTHING,
			ask: () =>
				new Promise((resolve) => {
					answer = resolve;
				}),
		};
		await request(slow, { timeout: 100 }, async (pending) => {
			const answered = ask(ROOTS);
			t.mock.timers.tick(1_000);
			answer({ roots: [] });
			assert.deepEqual(await answered, { roots: [] });
			t.mock.timers.tick(99);
			let isOver = false;
			pending.answer.catch(() => {
				isOver = true;
			});
			await new Promise((resolve) => setImmediate(resolve));
			assert.equal(isOver, false);
			t.mock.timers.tick(1);
			await assert.rejects(pending.answer, { code: "timeout" });
		});
	});
});
