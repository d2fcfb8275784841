import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { FREE_PORTS, start } from "xs-mcp-gateway/testing/command-line";
import { connectClient, SET_VOLUME, toolNames } from "xs-mcp-gateway/testing/gateway";
import { makeStateFolder, startProgram, startProgramWithDevice } from "xs-mcp-gateway/testing/program";
import { temporaryFolder, until } from "../../../host-test/support/testing.js";
import { EVERYTHING, isGroupRunning, nodeServer, ODD_SERVER, processesOf, textOf } from "../testing/upstreams.js";

const odd = (id: string, behaviour = "good") => ({ ...nodeServer(id, ODD_SERVER, behaviour), enabled: true });

async function serversFile(...servers: object[]): Promise<string> {
	const file = `${temporaryFolder()}/mcp-servers.json`;
	await writeFile(file, JSON.stringify({ servers }));
	return file;
}

describe("the gateway with a file of servers", () => {
	for (const era of ["2025-11-25", "2026-07-28"] as const) {
		it(`serves them at /mcp and /mcp/ID like devices (${era})`, async (t) => {
			const everything = { ...nodeServer("everything", EVERYTHING), enabled: true };
			const { base } = await startProgram(t, { serversFile: await serversFile(odd("My_Odd"), everything) });
			const client = await connectClient(t, new URL(`${base}/mcp`), era);
			await until(async () => (await toolNames(client)).includes("everything__echo"), "server-everything is listed");
			assert.ok((await toolNames(client)).includes("my_odd__write"));
			assert.equal(
				textOf(await client.callTool({ name: "everything__echo", arguments: { message: "hello" } })),
				"Echo: hello",
			);
			assert.ok((await client.listPrompts()).prompts.some(({ name }) => name.startsWith("everything__")));
			const { resources } = await client.listResources();
			const resource = resources.find(({ mimeType }) => mimeType === "text/markdown");
			assert.ok(resource);
			assert.ok((await client.readResource({ uri: resource.uri })).contents.length > 0);
			for (const path of ["My_Odd", "my_odd"]) {
				const single = await connectClient(t, new URL(`${base}/mcp/${path}`), era);
				assert.deepEqual(await toolNames(single), ["echo", "write"]);
			}
		});
	}

	it("connects a lazy server when a client opens /mcp/ID", async (t) => {
		const lazy = { ...odd("lazy"), lazy: true };
		const { base } = await startProgram(t, { serversFile: await serversFile(odd("one"), lazy) });
		const client = await connectClient(t, new URL(`${base}/mcp`), "2025-11-25");
		await until(async () => (await toolNames(client)).includes("one__echo"), "the other server is listed");
		assert.ok(!(await toolNames(client)).includes("lazy__echo"));
		const single = await connectClient(t, new URL(`${base}/mcp/lazy`), "2025-11-25");
		assert.deepEqual(await toolNames(single), ["echo", "write"]);
		await until(async () => (await toolNames(client)).includes("lazy__echo"), "it is listed from now on");
	});

	it("follows the file: servers come and go, and what is wrong is logged", async (t) => {
		const file = await serversFile(odd("one"));
		const { base, log } = await startProgram(t, { serversFile: file });
		const client = await connectClient(t, new URL(`${base}/mcp`), "2025-11-25");
		await until(async () => (await toolNames(client)).includes("one__echo"), "the first server is listed");
		await writeFile(file, JSON.stringify({ servers: [odd("two"), { id: "bad id", url: "x" }] }));
		await until(async () => (await toolNames(client)).join() === "two__echo,two__write", "the second server is listed");
		assert.match(log(), /mcp-servers\.json:1: servers\[1\]\.id: must contain only/);
		await writeFile(file, "{");
		await until(() => log().includes("Failed to parse MCP config file"), "the fault is logged");
		assert.deepEqual(await toolNames(client), ["two__echo", "two__write"]);
	});

	it("leaves no process behind if it is killed", { skip: process.platform !== "linux" }, async (t) => {
		const folder = makeStateFolder();
		const file = await serversFile(odd("one"), odd("child", "child"), odd("stubborn", "stubborn"));
		const { child, output } = start(t, [...FREE_PORTS, "--state-folder", folder, "--servers-file", file]);
		await until(() => (output.stderr.match(/server connected/g) ?? []).length === 3, "all are connected");
		const groups = await processesOf("odd-server", child.pid);
		assert.equal(groups.length, 3);
		child.kill("SIGKILL");
		for (const group of groups) {
			await until(async () => !(await isGroupRunning(group)), `process group ${group} has ended`);
		}
	});
});

describe("the management tools of the gateway", () => {
	it("are off unless the setting says otherwise, and not for tokens by default", async (t) => {
		const off = await startProgram(t);
		const client = await connectClient(t, new URL(`${off.base}/mcp`), "2025-11-25");
		assert.deepEqual(await toolNames(client), []);
		const local = await startProgram(t, { managementTools: "local" });
		const near = await connectClient(t, new URL(`${local.base}/mcp`), "2026-07-28");
		assert.equal((await toolNames(near)).length, 9);
		const token = await local.tokens.add({ name: "remote", kind: "client" });
		const far = await connectClient(t, new URL(`${local.base}/mcp`), "2025-11-25", { token });
		assert.deepEqual(await toolNames(far), []);
	});

	it("reach devices, too, but not their user-only tools", async (t) => {
		const { started } = await startProgramWithDevice(t, {}, { managementTools: "local" });
		const alias = "lamp_000001";
		const client = await connectClient(t, new URL(`${started.base}/mcp`), "2025-11-25");
		const run = async (name: string, args: Record<string, unknown>) =>
			textOf(await client.callTool({ name, arguments: args }));
		assert.match(await run("mcp_list_connections", {}), new RegExp(`- ${alias}: websocket \\[connected\\] \\(`));
		assert.equal(
			await run("mcp_list_tools", { id: alias }),
			`Tools from '${alias}' (1):\n  - self.audio_speaker.set_volume: Set the volume.\n    ${JSON.stringify(SET_VOLUME.inputSchema)}`,
		);
		const call = { connection_id: alias, tool_name: "self.reboot" };
		assert.equal(await run("mcp_call_tool", call), "Error: Tool 'self.reboot' not found on server");
		assert.match(
			await run("mcp_call_tool", { ...call, tool_name: SET_VOLUME.name, arguments: { volume: 1 } }),
			/is not approved/,
		);
	});
});
