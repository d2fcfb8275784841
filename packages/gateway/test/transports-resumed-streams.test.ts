import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { describe, it, type TestContext } from "node:test";
import { listen, testWith, until } from "../../../host-test/support/testing.js";
import { Gate } from "../testing/gate.js";
import {
	connectClient,
	startGateway,
	type TestGateway,
	VOLUME,
	type WireCall,
	WireDevice,
} from "../testing/gateway.js";
import { initializeParams, post } from "../testing/raw-session.js";

// MCP 2025-11-25, "Resumability and Redelivery": a client that has lost a stream asks for the rest by `Last-Event-ID`.

const STATE = "device://lamp_000001/state";

class RawClient {
	readonly #url: URL;
	#session: Record<string, string> = {};
	#ids = 0;

	constructor(side: TestGateway) {
		this.#url = side.clientUrl();
	}

	async open(): Promise<void> {
		const answer = await this.post("initialize", initializeParams());
		await answer.text();
		this.#session = { "mcp-session-id": answer.headers.get("mcp-session-id") as string };
	}

	async post(method: string, params: object, signal?: AbortSignal): Promise<Response> {
		this.#ids += 1;
		return await post(this.#url, { id: this.#ids, method, params }, this.#session, signal);
	}

	async call(volume: number, signal?: AbortSignal): Promise<Response> {
		const params = { name: VOLUME, arguments: { volume }, _meta: { progressToken: volume } };
		return await this.post("tools/call", params, signal);
	}

	async stream(lastEventId?: string, signal?: AbortSignal, url: string | URL = this.#url): Promise<Response> {
		const last = lastEventId === undefined ? undefined : { "last-event-id": lastEventId };
		const headers = { ...this.#session, ...last, accept: "text/event-stream" };
		return await fetch(url, { headers, ...(signal && { signal }) });
	}
}

interface Event {
	readonly id: string | undefined;
	// biome-ignore lint/suspicious/noExplicitAny: tests read members that may not be there, and fail if they are not.
	readonly message: any;
}

/** Reads events until one of them is the last that is wanted, or the stream ends. */
async function read(stream: Response, isLast: (event: Event) => boolean = () => false): Promise<Event[]> {
	let text = "";
	const decoder = new TextDecoder();
	const events = (): Event[] =>
		[...text.matchAll(/^((?:.+\n)+)\n/gm)].map(([, event = ""]) => {
			const data = /^data: (.*)$/m.exec(event)?.[1];
			return { id: /^id: (.*)$/m.exec(event)?.[1], message: data ? JSON.parse(data) : undefined };
		});
	for await (const chunk of stream.body ?? []) {
		text += decoder.decode(chunk, { stream: true });
		if (events().some(isLast)) {
			break;
		}
	}
	return events();
}

/** A gateway with a device that answers calls when the test says so, after it has reported progress. */
async function start(t: TestContext) {
	const side = await startGateway(t);
	const calls: WireCall[] = [];
	const device = await WireDevice.connect(t, side, {
		onCall(call, self) {
			calls.push(call);
			if (call.progressToken !== undefined) {
				self.notify("notifications/progress", { progressToken: call.progressToken, progress: 1 });
			}
			return undefined;
		},
	});
	const client = new RawClient(side);
	await client.open();
	const answer = (at: number): void => {
		const { id, arguments: args } = calls[at] as WireCall;
		device.answer(id, { content: [{ type: "text", text: `volume ${args.volume}` }] });
	};
	return { side, device, client, calls, answer };
}

const itStarted = testWith(start);

/** The id of an event that comes so many later in the same stream. */
function later(event: Event | undefined, more: number): string {
	const [stream, place] = `${event?.id}`.split("-");
	return `${stream}-${Number(place) + more}`;
}

const isState = ({ message }: Event): boolean => message?.method === "notifications/resources/updated";
const isProgress = ({ message }: Event): boolean => message?.method === "notifications/progress";

describe("a stream that a client has lost", () => {
	it("of the server's own messages: the client gets those that it missed, then new ones", async (t) => {
		const { device, client } = await start(t);
		await (await client.post("resources/subscribe", { uri: STATE })).text();
		const enter = (newState: string): void => device.notify("notifications/state_changed", { newState });
		const cut = new AbortController();
		const stream = await client.stream(undefined, cut.signal);
		enter("listening");
		const last = (await read(stream, isState)).at(-1);
		cut.abort();
		enter("thinking");
		enter("speaking");
		const resumed = await client.stream(last?.id);
		enter("idle");
		const next = [1, 2, 3].map((more) => later(last, more));
		const all = await read(resumed, ({ id }) => id === next[2]);
		const ids = all.filter(isState).map(({ id }) => id);
		assert.deepEqual(ids, next);
	});

	it("before the first message: the client gets what came meanwhile, without naming an event", async (t) => {
		const { side, device, client } = await start(t);
		await (await client.post("resources/subscribe", { uri: STATE })).text();
		const server = createServer(async (request, response) => {
			await side.endpoint.handle(request, response, { access: side.access, server: undefined, body: undefined });
		});
		const port = await listen(t, server);
		const cut = new AbortController();
		const [[, response]] = await Promise.all([
			once(server, "request"),
			client.stream(undefined, cut.signal, `http://127.0.0.1:${port}/`),
		]);
		const closed = once(response, "close");
		cut.abort();
		await closed;
		device.notify("notifications/state_changed", { newState: "listening" });
		const [missed] = (await read(await client.stream(), isState)).filter(isState);
		device.notify("notifications/state_changed", { newState: "idle" });
		const resumed = await client.stream(missed?.id);
		assert.equal((await read(resumed, isState)).find(isState)?.id, later(missed, 1));
	});

	it("of a call that goes on: the client gets its answer, and nothing of other calls", async (t) => {
		const { client, answer } = await start(t);
		const cut = new AbortController();
		const [progress] = await read(await client.call(1, cut.signal), isProgress);
		cut.abort();
		const other = await client.call(2);
		const resumed = await client.stream(progress?.id);
		answer(1);
		answer(0);
		const events = await read(resumed);
		assert.deepEqual(
			events.flatMap(({ message }) => message?.result?.content ?? []),
			[{ type: "text", text: "volume 1" }],
		);
		assert.match(await other.text(), /volume 2/);
	});

	it("of a call that has ended meanwhile: the client gets its answer, as often as it asks", async (t) => {
		const { side, client, answer } = await start(t);
		const cut = new AbortController();
		const [progress] = await read(await client.call(1, cut.signal), isProgress);
		cut.abort();
		const called = once(side.gateway.servers, "call");
		answer(0);
		await called;
		for (const _ of [1, 2]) {
			const events = await read(await client.stream(progress?.id));
			const found = events.map(({ message }) => message.result.content);
			assert.deepEqual(found, [[{ type: "text", text: "volume 1" }]]);
		}
	});

	itStarted("is resumed by the SDK's client on its own", async ({ side, answer }, t) => {
		const gate = await Gate.open(t, Number(side.clientUrl().port));
		const client = await connectClient(t, new URL(`http://127.0.0.1:${gate.port}/mcp`), "2025-11-25");
		const onprogress = (): void => {
			gate.cut();
			gate.restore();
			answer(0);
		};
		const { content } = await client.callTool({ name: VOLUME, arguments: { volume: 1 } }, { onprogress });
		assert.deepEqual(content, [{ type: "text", text: "volume 1" }]);
	});
});

describe("an id of an event", () => {
	itStarted("that no stream has is rejected, and leaves the session as it is", async ({ client, device }) => {
		await (await client.post("resources/subscribe", { uri: STATE })).text();
		const stream = await client.stream();
		for (const unknown of ["7-3", "x", "1-1-1", "0"]) {
			assert.equal((await client.stream(unknown)).status, 400, unknown);
		}
		device.notify("notifications/state_changed", { newState: "listening" });
		assert.equal((await read(stream, isState)).some(isState), true);
	});

	itStarted("that is too old gets the last 64 messages", async ({ side, device, client }) => {
		await (await client.post("resources/subscribe", { uri: STATE })).text();
		const cut = new AbortController();
		const stream = await client.stream(undefined, cut.signal);
		const first = (await read(stream, isState)).at(-1);
		cut.abort();
		for (let at = 1; at <= 100; at += 1) {
			device.notify("notifications/state_changed", { newState: `state ${at}` });
		}
		await until(() => side.gateway.servers.all[0]?.state === "state 100", "all have arrived");
		const missed = await read(await client.stream(first?.id), ({ id }) => id === later(first, 100));
		assert.equal(missed.length, 64);
		assert.equal(missed[0]?.id, later(first, 37));
	});
});

describe("an answer", () => {
	itStarted("is JSON without an event's id if nothing precedes it", async ({ client, calls, answer }) => {
		const answered = client.post("tools/call", { name: VOLUME, arguments: { volume: 1 } });
		await until(() => calls.length === 1, "the device is called");
		answer(0);
		const response = await answered;
		assert.equal(response.headers.get("content-type"), "application/json");
		assert.match(await response.text(), /^\{.*volume 1/);
	});

	itStarted("becomes a stream that can be resumed if it takes long", async ({ client, calls, answer }, t) => {
		const cut = new AbortController();
		t.mock.timers.enable({ apis: ["setInterval"] });
		const params = { name: VOLUME, arguments: { volume: 1 } };
		const answered = client.post("tools/call", params, cut.signal);
		await until(() => calls.length === 1, "the device is called");
		t.mock.timers.tick(15_000);
		t.mock.timers.reset();
		const [first] = await read(await answered, ({ id }) => id !== undefined);
		cut.abort();
		const resumed = await client.stream(first?.id);
		answer(0);
		assert.match(await resumed.text(), /volume 1/);
	});
});
