import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { inputRequired } from "@modelcontextprotocol/server";
import type { ElicitRequest, McpManagerOptions, RegisteredServer } from "../src/manager/index.js";
import { openManager } from "../testing/manager.js";
import { startStatelessUpstream } from "../testing/stateless-upstream.js";
import { nodeServer, textOf } from "../testing/upstreams.js";

const TALKING = nodeServer("talking", fileURLToPath(new URL("../testing/talking-server.mjs", import.meta.url)));

async function greet(t: TestContext, server: RegisteredServer, elicit?: McpManagerOptions["elicit"]) {
	const manager = await openManager(t, { servers: [server], ...(elicit && { elicit }) });
	return await manager.executeTool("greet", {}, { server: "talking" });
}

/** A person, and the questions that were asked. */
function person() {
	const questions: Omit<ElicitRequest, "signal">[] = [];
	const elicit: McpManagerOptions["elicit"] = async ({ signal: _, ...question }) => {
		questions.push(question);
		return { action: "accept", content: { name: "Ada" } };
	};
	return { questions, elicit };
}

async function startAsking(t: TestContext): Promise<RegisteredServer> {
	const { url } = await startStatelessUpstream(t, { tools: {} }, (server) => {
		server.setRequestHandler("tools/list", async () => ({
			tools: [{ name: "greet", inputSchema: { type: "object" } }],
		}));
		server.setRequestHandler("tools/call", async (_request, { mcpReq }) => {
			const { name } = mcpReq.inputResponses ?? {};
			const requestedSchema = { type: "object" as const, properties: { name: { type: "string" as const } } };
			return name === undefined
				? inputRequired({
						inputRequests: { name: inputRequired.elicit({ message: "Who is there?", requestedSchema }) },
					})
				: { content: [{ type: "text", text: `Hello: ${JSON.stringify(name)}` }] };
		});
	});
	return { id: "talking", url };
}

describe("a question of a server during a call", () => {
	for (const [name, start] of [
		["up to 2025-11-25", async () => TALKING],
		["of 2026-07-28", startAsking],
	] as const) {
		it(`is put to the person, and the answer to the server: ${name}`, async (t) => {
			const { questions, elicit } = person();
			const { data, error } = await greet(t, await start(t), elicit);
			assert.equal(error, undefined);
			assert.match(textOf(data ?? {}), /^Hello: .*"action":"accept".*"name":"Ada"/);
			const found = questions.map(({ server, tool, message }) => [server, tool, message]);
			assert.deepEqual(found, [["talking", "greet", "Who is there?"]]);
		});

		it(`is answered with an error if nobody can be asked: ${name}`, async (t) => {
			const { data, error } = await greet(t, await start(t));
			assert.match(error?.message ?? textOf(data ?? {}), /not supported|not found|capabilit/i);
		});
	}
});
