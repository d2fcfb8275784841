import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { nodeServer, ODD_SERVER, textOf } from "xs-mcp-manager/testing/upstreams";
import { cases } from "../../../host-test/support/scope.js";
import { connectClient, ERAS, SET_VOLUME } from "../testing/gateway.js";
import { postStateless } from "../testing/post-stateless.js";
import { startProgram, startProgramWithDevice } from "../testing/program.js";

const { command, args } = nodeServer("one", ODD_SERVER, "good");
const URL_OF_ONE = [command, ...args].map((word) => `"${word}"`).join(" ");
const CONNECT = { name: "mcp_connect", arguments: { id: "one", url: URL_OF_ONE } };

async function askable(t: TestContext, base: string, era: keyof typeof ERAS, action: "accept" | "decline") {
	const client = await connectClient(t, new URL(`${base}/mcp`), era, { capabilities: { elicitation: {} } });
	const questions: string[] = [];
	client.setRequestHandler("elicitation/create", ({ params }) => {
		questions.push(params.message);
		return { action, content: {} };
	});
	return { client, questions };
}

const asPage = async (base: string, origin: string, method: string, params: object = {}) =>
	(await postStateless(`${base}/mcp`, method, params, { headers: { origin } })).message;

describe("the management tools and pages in browsers", () => {
	it("are not for a page of another port of this machine", async (t) => {
		const { base, gateway } = await startProgram(t, { managementTools: "local" });
		for (const origin of ["http://localhost:1234", "http://127.0.0.1:1", "null-origin.localhost"]) {
			const { result } = await asPage(base, origin, "tools/list");
			assert.deepEqual(result?.tools ?? [], [], origin);
		}
		const { error } = await asPage(base, "http://localhost:1234", CONNECT.name, CONNECT);
		assert.ok(error);
		const called = await asPage(base, "http://localhost:1234", "tools/call", CONNECT);
		assert.equal(called.error?.message, "Unknown tool: mcp_connect");
		assert.deepEqual(gateway.servers.all, []);
	});

	it("are for a page of the gateway's own origin", async (t) => {
		const { base } = await startProgram(t, { managementTools: "local" });
		assert.equal((await asPage(base, base, "tools/list")).result.tools.length, 9);
	});
});

for (const era of cases(Object.keys(ERAS) as (keyof typeof ERAS)[])) {
	describe(`mcp_connect and mcp_call_tool of a client of ${era}`, () => {
		it("ask before a connection, and connect if the person agrees", async (t) => {
			const { base, gateway } = await startProgram(t, { managementTools: "local" });
			const refusing = await askable(t, base, era, "decline");
			assert.equal(textOf(await refusing.client.callTool(CONNECT)), "Error: The connection to 'one' was not approved");
			assert.deepEqual(gateway.servers.all, []);
			const { client, questions } = await askable(t, base, era, "accept");
			assert.match(textOf(await client.callTool(CONNECT)), /^Successfully connected/);
			assert.equal(questions.length, 1);
			assert.match(questions[0] ?? "", /^Connect to one: .*odd-server/);
		});

		it("ask nothing if the arguments are wrong", async (t) => {
			const { started } = await startProgramWithDevice(t, {}, { managementTools: "local" });
			const alias = "lamp_000001";
			const { client, questions } = await askable(t, started.base, era, "accept");
			const bad = { ...CONNECT, arguments: { id: "not valid!", url: "x" } };
			assert.match(textOf(await client.callTool(bad)), /must contain only/);
			const call = { connection_id: alias, tool_name: SET_VOLUME.name, arguments: { volume: "loud" } };
			assert.match(textOf(await client.callTool({ name: "mcp_call_tool", arguments: call })), /volume/);
			assert.deepEqual(questions, []);
			const good = { ...call, arguments: { volume: 10 } };
			assert.equal(textOf(await client.callTool({ name: "mcp_call_tool", arguments: good })), "true");
			assert.equal(questions.length, 1);
		});

		it("say what to do if the client cannot ask", async (t) => {
			const { base } = await startProgram(t, { managementTools: "local" });
			const client = await connectClient(t, new URL(`${base}/mcp`), era);
			assert.match(
				textOf(await client.callTool(CONNECT)),
				/^Error: The connection to 'one' is not approved: .*elicitation.*file of servers/,
			);
		});
	});
}
