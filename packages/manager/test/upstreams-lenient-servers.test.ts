import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { text as readText } from "node:stream/consumers";
import { describe, it, type TestContext } from "node:test";
import { callText, connected, initialized, serveHttp } from "../testing/upstreams.js";

type Message = Readonly<Record<string, unknown>>;

/** Headers of an answer. */
const JSON_TYPE = { "Content-Type": "application/json" };
const STREAM = { "Content-Type": "text/event-stream" };

const REQUIRED = {
	type: "object",
	properties: { type: { type: "string", default: "png" }, box: { properties: { x: { default: 1 } }, required: ["x"] } },
	required: ["type"],
};

interface Variant {
	/** Changes an answer. */
	readonly change?: (method: string, answer: Record<string, unknown>) => void;
	/** The status for notifications. */
	readonly notified?: number;
	readonly send?: (response: ServerResponse, answer: Message) => void;
}

/** A server over HTTP with sessions, whose tool `shot` answers with its arguments. */
async function start(t: TestContext, { change, notified = 202, send }: Variant = {}) {
	const state = { session: "a", status: 404, calls: 0 };
	const url = await serveHttp(t, async (request, response) => {
		const { id, method, params } = JSON.parse((await readText(request)) || "{}");
		if (request.method !== "POST") {
			response.writeHead(405).end();
		} else if (!/initialize$|discover/.test(method) && request.headers["mcp-session-id"] !== state.session) {
			response.writeHead(state.status, JSON_TYPE).end('{"jsonrpc":"2.0","id":null,"error":{"code":-32001}}');
		} else if (id === undefined) {
			response.writeHead(notified, JSON_TYPE).end();
		} else {
			const results: Record<string, object> = {
				initialize: initialized(params?.protocolVersion),
				"tools/list": { tools: [{ name: "shot", inputSchema: REQUIRED }] },
				"tools/call": { content: [{ type: "text", text: JSON.stringify(params?.arguments) }] },
			};
			state.calls += method === "tools/call" ? 1 : 0;
			const known = method === "server/discover" ? undefined : (results[method] ?? {});
			const answer: Record<string, unknown> = known
				? { jsonrpc: "2.0", id, result: known }
				: { jsonrpc: "2.0", id, error: { code: -32_601, message: "no" } };
			change?.(method, answer);
			response.setHeader("Mcp-Session-Id", state.session);
			send ? send(response, answer) : response.writeHead(200, JSON_TYPE).end(JSON.stringify(answer));
		}
	});
	return { state, server: (await connected(t, { id: "one", url })).server };
}

const onInitialize = (members: object) => (method: string, answer: Record<string, unknown>) => {
	if (method === "initialize") {
		answer.result = { ...(answer.result as object), ...members };
	}
};

describe("a server over HTTP", () => {
	for (const [what, variant] of Object.entries({
		"a revision that nobody knows": { change: onInitialize({ protocolVersion: "2099-01-01" }) },
		"no version": { change: onInitialize({ serverInfo: { name: "s" } }) },
		"null members": { change: onInitialize({ instructions: null, capabilities: { tools: {}, logging: null } }) },
		"an error that is null": {
			change: (_: string, answer: Record<string, unknown>) => {
				answer.error ??= null;
			},
		},
		"a refused notification": { notified: 400 },
		"an id as text": {
			change: (_: string, answer: Record<string, unknown>) => {
				answer.id = `${answer.id}`;
			},
		},
		"a byte order mark": {
			send: (response: ServerResponse, answer: Message) =>
				void response.writeHead(200, JSON_TYPE).end(`\uFEFF${JSON.stringify(answer)}`),
		},
		"a last event without a line end": {
			send: (response: ServerResponse, answer: Message) =>
				void response.writeHead(200, STREAM).end(`data: ${JSON.stringify(answer)}`),
		},
		"events in pieces": {
			send: (response: ServerResponse, answer: Message) => {
				const lines = JSON.stringify({ ...answer, error: answer.error ?? null }, undefined, 1).split("\n");
				response.writeHead(200, STREAM).write(": hello\r\n\r\nevent: message\r\n");
				for (const line of lines) {
					response.write(`data: ${line}\r`);
					response.write("\n");
				}
				response.end("\r\n");
			},
		},
	} satisfies Record<string, Variant>)) {
		it(`is usable with ${what}`, async (t) => {
			const { server } = await start(t, variant as Variant);
			assert.equal(await callText(server, "shot", { type: "jpg" }), '{"type":"jpg"}');
		});
	}

	for (const status of [404, 400]) {
		it(`that has forgotten the session (${status}) gets the call over a new one, once`, async (t) => {
			const { server, state } = await start(t);
			await callText(server, "shot", { type: "a" });
			Object.assign(state, { session: "b", status });
			assert.equal(await callText(server, "shot", { type: "b" }), '{"type":"b"}');
			assert.equal(state.calls, 2);
		});
	}

	it("gets the default of a required argument that is left out", async (t) => {
		const { server } = await start(t);
		assert.equal(await callText(server, "shot", {}), '{"type":"png"}');
		assert.equal(await callText(server, "shot", { type: "a", box: {} }), '{"type":"a","box":{"x":1}}');
	});

	it("is not described in the words of a validation library if it is none", async (t) => {
		const url = await serveHttp(t, (request, response) => {
			request.resume();
			response.writeHead(200, JSON_TYPE).end('{"hello":"world"}');
		});
		await assert.rejects(connected(t, { id: "none", url }), (error: Error) => {
			assert.match(error.message, /what the server sent is not a message of MCP/);
			return true;
		});
	});
});
