import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { connectClient } from "../testing/gateway.js";
import { makeServersFile, makeStateFolder, startProgram } from "../testing/program.js";

const EVERYTHING = new URL(
	"../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js",
	import.meta.url,
);

/** Starts the server once a file exists. */
const LATE = `
	import { existsSync } from "node:fs";
	while (!existsSync(process.argv[1])) {
		await new Promise((resolve) => setTimeout(resolve, 20));
	}
	process.argv[1] = ${JSON.stringify(fileURLToPath(EVERYTHING))};
	process.argv[2] = "stdio";
	await import(${JSON.stringify(EVERYTHING.href)});
`;

// A gateway that is started again listens before slow servers are connected, and its clients go on with their sessions.
it("a call of a configured server that is not connected yet waits for it", async (t) => {
	const go = join(makeStateFolder(), "go");
	const late = { command: process.execPath, args: ["--input-type=module", "-e", LATE, go] };
	const started = await startProgram(t, { serversFile: makeServersFile({ late }) });
	const client = await connectClient(t, new URL(`${started.base}/mcp`), "2025-11-25");
	assert.deepEqual((await client.listTools()).tools, []);
	const call = client.callTool({ name: "late__echo", arguments: { message: "in time" } });
	writeFileSync(go, "");
	assert.match(JSON.stringify((await call).content), /in time/);
});

it("a call of a configured server that could not be connected says why", async (t) => {
	const started = await startProgram(t, { serversFile: makeServersFile({ broken: { command: "no-such-program" } }) });
	const call = { name: "broken__echo", arguments: { message: "in vain" } };
	const client = await connectClient(t, new URL(`${started.base}/mcp`), "2025-11-25");
	const { isError, content } = await client.callTool(call);
	assert.equal(isError, true);
	assert.match(JSON.stringify(content), /broken is not connected: .*no-such-program/);
	await assert.rejects(client.callTool({ ...call, name: "other__echo" }), /Unknown tool: other__echo/);
});
