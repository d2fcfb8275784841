import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { describe, it, type TestContext } from "node:test";
import type { Client } from "@modelcontextprotocol/client";
import { FREE_PORTS, start } from "../../../gateway/test/support/command-line.js";
import { connectClient, nextOnline, REBOOT, SET_VOLUME, WireDevice } from "../../../gateway/test/support/gateway.js";
import { makeStateFolder, startProgram } from "../../../gateway/test/support/program.js";
import { temporaryFolder } from "../../../host-test/support/temporary-folder.js";
import { until } from "../../../host-test/support/until.js";
import { EVERYTHING, isGroupRunning, nodeServer, ODD_SERVER, textOf } from "../support/upstreams.js";

const odd = (id: string, behaviour = "good") => ({ ...nodeServer(id, ODD_SERVER, behaviour), enabled: true });

async function serversFile(_t: TestContext, ...servers: object[]): Promise<string> {
	const file = `${temporaryFolder()}/mcp-servers.json`;
	await writeFile(file, JSON.stringify({ servers }));
	return file;
}

const namesOf = async (client: Client): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name);

describe("the gateway with a file of servers", () => {
	for (const era of ["2025-11-25", "2026-07-28"] as const) {
		it(`serves them at /mcp and /mcp/ID like devices (${era})`, async (t) => {
			const everything = { ...nodeServer("everything", EVERYTHING), enabled: true };
			const { base } = await startProgram(t, { serversFile: await serversFile(t, odd("My_Odd"), everything) });
			const client = await connectClient(t, new URL(`${base}/mcp`), era);
			await until(async () => (await namesOf(client)).includes("everything__echo"), "server-everything is listed");
			assert.ok((await namesOf(client)).includes("my_odd__write"));
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
				assert.deepEqual(await namesOf(single), ["echo", "write"]);
			}
		});
	}

	it("connects a lazy server when a client opens /mcp/ID", async (t) => {
		const lazy = { ...odd("lazy"), lazy: true };
		const { base } = await startProgram(t, { serversFile: await serversFile(t, odd("one"), lazy) });
		const client = await connectClient(t, new URL(`${base}/mcp`), "2025-11-25");
		await until(async () => (await namesOf(client)).includes("one__echo"), "the other server is listed");
		assert.ok(!(await namesOf(client)).includes("lazy__echo"));
		const single = await connectClient(t, new URL(`${base}/mcp/lazy`), "2025-11-25");
		assert.deepEqual(await namesOf(single), ["echo", "write"]);
		await until(async () => (await namesOf(client)).includes("lazy__echo"), "it is listed from now on");
	});

	it("follows the file: servers come and go, and what is wrong is logged", async (t) => {
		const file = await serversFile(t, odd("one"));
		const { base, log } = await startProgram(t, { serversFile: file });
		const client = await connectClient(t, new URL(`${base}/mcp`), "2025-11-25");
		await until(async () => (await namesOf(client)).includes("one__echo"), "the first server is listed");
		await writeFile(file, JSON.stringify({ servers: [odd("two"), { id: "bad id", url: "x" }] }));
		await until(async () => (await namesOf(client)).join() === "two__echo,two__write", "the second server is listed");
		assert.match(log(), /mcp-servers\.json:1: servers\[1\]\.id: must contain only/);
		await writeFile(file, "{");
		await until(() => log().includes("Failed to parse MCP config file"), "the fault is logged");
		assert.deepEqual(await namesOf(client), ["two__echo", "two__write"]);
	});

	it("leaves no process behind if it is killed", { skip: process.platform !== "linux" }, async (t) => {
		const folder = makeStateFolder();
		const file = await serversFile(t, odd("one"), odd("child", "child"), odd("stubborn", "stubborn"));
		const { child, output } = start(t, [...FREE_PORTS, "--state-folder", folder, "--servers-file", file]);
		await until(() => (output.stderr.match(/server connected/g) ?? []).length === 3, "all are connected");
		const groups = await serversOf(child.pid as number);
		assert.equal(groups.length, 3);
		child.kill("SIGKILL");
		for (const group of groups) {
			await until(async () => !(await isGroupRunning(group)), `process group ${group} has ended`);
		}
	});
});

/** The processes of the test's servers that a process has started. */
async function serversOf(pid: number): Promise<number[]> {
	const children = (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).trim().split(" ");
	const servers: number[] = [];
	for (const child of children) {
		if ((await readFile(`/proc/${child}/cmdline`, "utf8")).includes("odd-server")) {
			servers.push(Number(child));
		}
	}
	return servers;
}

describe("the management tools of the gateway", () => {
	it("are off unless the setting says otherwise, and not for tokens by default", async (t) => {
		const off = await startProgram(t);
		const client = await connectClient(t, new URL(`${off.base}/mcp`), "2025-11-25");
		assert.deepEqual(await namesOf(client), []);
		const local = await startProgram(t, { managementTools: "local" });
		const near = await connectClient(t, new URL(`${local.base}/mcp`), "2026-07-28");
		assert.equal((await namesOf(near)).length, 9);
		const token = await local.tokens.add({ name: "remote", kind: "client" });
		const far = await connectClient(t, new URL(`${local.base}/mcp`), "2025-11-25", { token });
		assert.deepEqual(await namesOf(far), []);
	});

	it("reach devices, too, but not their user-only tools", async (t) => {
		const started = await startProgram(t, { managementTools: "local" });
		const online = nextOnline(started.gateway.servers);
		await WireDevice.connect(t, started, {
			tools: [SET_VOLUME, REBOOT],
			onCall: () => ({ content: [{ type: "text", text: "done" }] }),
		});
		const { alias } = await online;
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
