import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { Client, type ClientCapabilities, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { startAskingUpstream } from "xs-mcp-gateway/testing/asking-upstream";
import { ERAS, openGateway, serveClients } from "xs-mcp-gateway/testing/gateway";
import type { RegisteredServer } from "xs-mcp-manager";
import { cases } from "../../../host-test/support/scope.js";
import { testWith } from "../../../host-test/support/testing.js";
import { openManager } from "../testing/manager.js";
import { EVERYTHING, nodeServer, textOf } from "../testing/upstreams.js";

const itAskingUpstream = testWith(startAskingUpstream);

type Era = keyof typeof ERAS;

const ERA_NAMES = Object.keys(ERAS) as Era[];

const NAME_FORM = {
	method: "elicitation/create",
	params: {
		mode: "form",
		message: "Your name?",
		requestedSchema: {
			type: "object",
			properties: { name: { type: "string" }, greeting: { type: "string", default: "hello" } },
		},
	},
};

const SAMPLING = {
	method: "sampling/createMessage",
	params: { messages: [{ role: "user", content: { type: "text", text: "a joke" } }], maxTokens: 10 },
};

const ALL: ClientCapabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };

/** A gateway in front of one server. */
async function open(t: TestContext, server: RegisteredServer) {
	const gateway = await openGateway(t);
	await openManager(t, { registry: gateway.servers, servers: [server] });
	const side = await serveClients(t, gateway);
	/** A client, and the person in front of it. */
	const connect = async (era: Era, name = "Ada", capabilities = ALL) => {
		const client = new Client({ name, version: "1.0.0" }, { ...ERAS[era], capabilities });
		t.after(() => client.close());
		if (capabilities.elicitation !== undefined) {
			client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name } }));
		}
		if (capabilities.sampling !== undefined) {
			const content = { type: "text", text: `${name} laughs` } as const;
			client.setRequestHandler("sampling/createMessage", () => ({ model: "m", role: "assistant", content }));
			client.setRequestHandler("roots/list", () => ({ roots: [{ uri: `file:///${name}` }] }));
		}
		await client.connect(new StreamableHTTPClientTransport(side.clientUrl("up")));
		return client;
	};
	return { connect };
}

async function ask(client: Client, question: object): Promise<Record<string, unknown>> {
	return JSON.parse(textOf(await client.callTool({ name: "ask", arguments: { ...question } })));
}

for (const era of ERA_NAMES) {
	describe(`a server of 2025-11-25 that asks while it serves a client of ${era}`, () => {
		itAskingUpstream("gets that client's answers", async ({ url, told }, t) => {
			const { connect } = await open(t, { id: "up", url });
			const { elicitation, sampling, roots } = told.capabilities as ClientCapabilities;
			assert.deepEqual(elicitation, { form: { applyDefaults: true }, url: {} });
			assert.deepEqual([sampling, roots], [{}, {}]);
			const client = await connect(era);
			assert.deepEqual(await ask(client, NAME_FORM), { action: "accept", content: { name: "Ada", greeting: "hello" } });
			const { content } = await ask(client, SAMPLING);
			assert.deepEqual(content, { type: "text", text: "Ada laughs" });
			assert.deepEqual(await ask(client, { method: "roots/list" }), { roots: [{ uri: "file:///Ada" }] });
		});

		itAskingUpstream("is told what the client cannot be asked", async ({ url, errors }, t) => {
			const { connect } = await open(t, { id: "up", url });
			const client = await connect(era, "Ada", { elicitation: { form: {} } });
			const { isError } = await client.callTool({ name: "ask", arguments: SAMPLING });
			await client.callTool({ name: "ask", arguments: { ...NAME_FORM, params: { mode: "url", ...URL_PARAMS } } });
			assert.ok(isError);
			assert.match(errors[0] ?? "", /sampling\/createMessage: the client of this request does not support sampling/);
			assert.match(errors[1] ?? "", /elicitation\/create: the client of this request does not support elicitation/);
		});
	});
}

const URL_PARAMS = { message: "Sign in", elicitationId: "1", url: "https://example.com/" };

for (const era of cases(ERA_NAMES)) {
	describe(`servers that ask clients of ${era}`, () => {
		itAskingUpstream("over HTTP ask the one whose call it is, if several call", async ({ url }, t) => {
			const { connect } = await open(t, { id: "up", url });
			const names = ["Ada", "Bob", "Eve"];
			const clients = await Promise.all(names.map((name) => connect(era, name)));
			const answers = await Promise.all(clients.map((client) => ask(client, { method: "roots/list" })));
			assert.deepEqual(
				answers,
				names.map((name) => ({ roots: [{ uri: `file:///${name}` }] })),
			);
		});

		it("over stdio ask nobody while several clients call", async (t) => {
			const { connect } = await open(t, nodeServer("up", EVERYTHING));
			const [ada, bob] = await Promise.all([connect(era), connect(era, "Bob")]);
			const waiting = new Promise<void>((resolve) => {
				void ada
					.callTool(
						{ name: "trigger-long-running-operation", arguments: { duration: 600, steps: 600 } },
						{ onprogress: () => resolve(), signal: t.signal },
					)
					.catch(() => {});
			});
			await waiting;
			const { isError, content } = await bob.callTool({ name: "trigger-elicitation-request" });
			assert.ok(isError);
			assert.match(JSON.stringify(content), /requests of several clients are in progress/);
		});

		it("over stdio are server-everything: a form, a language model, folders", async (t) => {
			const { connect } = await open(t, nodeServer("up", EVERYTHING));
			const client = await connect(era);
			const call = async (name: string, args: Record<string, unknown> = {}) =>
				JSON.stringify((await client.callTool({ name, arguments: args })).content);
			assert.match(await call("trigger-elicitation-request"), /User provided the requested information/);
			assert.match(await call("trigger-sampling-request", { prompt: "a joke" }), /Ada laughs/);
			assert.match(await call("get-roots-list"), /file:\/\/\/Ada/);
		});
	});
}
