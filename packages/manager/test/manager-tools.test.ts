import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { describe, it, type TestContext } from "node:test";
import { temporaryFolder, testWith, until } from "../../../host-test/support/testing.js";
import type { ManagementCaller, McpManagerOptions } from "../src/manager/index.js";
import { openManager, runTool } from "../testing/manager.js";
import { startPlainUpstream } from "../testing/plain-upstream.js";
import { EVERYTHING, FILESYSTEM, nodeServer, ODD_SERVER, startEverything } from "../testing/upstreams.js";

/** A manager, its tools, and the messages for the person. */
async function open(t: TestContext, options: McpManagerOptions = {}, person: Partial<ManagementCaller> = {}) {
	const manager = await openManager(t, options);
	const notes: string[] = [];
	const notify = (note: string): void => void notes.push(note);
	const run = (name: string, args: object = {}) => runTool(manager, name, args, { notify, ...person });
	return { manager, run, notes };
}

const itOpened = testWith(open);

/** A word with a space is quoted, as people do. */
const nodeCommand = (program: string, ...args: string[]): string =>
	[process.execPath, program, ...args].map((word) => (word.includes(" ") ? JSON.stringify(word) : word)).join(" ");

describe("the management tools", () => {
	it("fail to reload a file that is not valid, and leave the servers as they are", async (t) => {
		const file = `${temporaryFolder()}/servers.json`;
		await writeFile(file, JSON.stringify({ servers: [{ ...nodeServer("one", ODD_SERVER, "good"), enabled: true }] }));
		const { run } = await open(t, { file });
		await writeFile(file, '{ "servers": [ }');
		const { text, isError } = await run("mcp_reload_config", { disconnect_existing: true });
		assert.equal(isError, true);
		assert.equal(
			text,
			`Error: Failed to parse MCP config file ${file}:1: invalid JSON: unexpected }\nThe servers are as they were before.`,
		);
		assert.match((await run("mcp_list_connections")).text, /one: .*\[connected\]/);
	});

	it("answer as in the worked example with server-filesystem", async (t) => {
		const folder = temporaryFolder();
		const url = nodeCommand(FILESYSTEM, folder);
		await writeFile(`${folder}/package.json`, '{"name": "myapp"}');
		const { run } = await open(t);
		const connected = (await run("mcp_connect", { id: "fs", url })).text.split("\n");
		assert.deepEqual(connected.slice(0, 3), [
			`Successfully connected to ${url.replaceAll('"', "")}`,
			"Connection ID: fs",
			"Transport: stdio",
		]);
		assert.match(connected[3] ?? "", /^Available tools \(\d+\): read_file, read_text_file, /);
		assert.equal(connected[4], "Available resources: 0");

		const listed = (await run("mcp_list_tools", { id: "fs" })).text.split("\n");
		assert.match(listed[0] ?? "", /^Tools from 'fs' \(\d+\):$/);
		assert.match(listed[1] ?? "", /^ {2}- read_file: Read the complete contents of a file/);
		assert.match(listed[2] ?? "", /^ {4}\{"type":"object","properties":\{"path":\{"type":"string"\}/);

		const call = (tool_name: string, args: object) =>
			run("mcp_call_tool", { connection_id: "fs", tool_name, arguments: args });
		assert.equal((await call("list_directory", { path: folder })).text, "[FILE] package.json");
		assert.equal((await call("read_text_file", { path: `${folder}/package.json` })).text, '{"name": "myapp"}');
		assert.equal((await call("search_files", { path: folder, pattern: "*.json" })).text, `${folder}/package.json`);
		assert.equal((await run("mcp_list_resources", { id: "fs" })).text, "Resources from 'fs' (0):");
		assert.match(
			(await run("mcp_list_connections")).text,
			/^Active MCP Connections \(1\):\n- fs: .+ \[connected\] \(\d+ tools\) - secure-filesystem-server\/[0-9.]+$/,
		);
		assert.equal((await run("mcp_disconnect", { id: "fs" })).text, `Disconnected from 'fs' (${url})`);
		assert.equal((await run("mcp_list_connections")).text, "No active MCP connections");
	});

	it("connect over HTTP and SSE, and read resources", async (t) => {
		const http = await startEverything(t, "streamableHttp");
		const sse = await startEverything(t, "sse");
		const { run } = await open(t);
		const url = `http://127.0.0.1:${http.port}/mcp`;
		assert.match((await run("mcp_connect", { id: "web", url })).text, /\nTransport: HTTP\n/);
		const byType = await run("mcp_connect", { id: "events", url: `http://127.0.0.1:${sse.port}/sse`, type: "sse" });
		assert.match(byType.text, /\nTransport: SSE\n/);
		const guessed = await run("mcp_connect", { id: "guessed", url: `http://127.0.0.1:${sse.port}/sse` });
		assert.match(guessed.text, /\nTransport: SSE\nAvailable tools \([1-9]/);
		const neither = await run("mcp_connect", { id: "neither", url: `http://127.0.0.1:${sse.port}/nothing` });
		assert.match(neither.text, /^Connection failed: HTTP 404/);
		const resources = (await run("mcp_list_resources", { id: "web" })).text;
		const uri = /^ {2}- (\S+): /m.exec(resources)?.[1];
		assert.match(resources, /^Resources from 'web' \([1-9]\d*\):\n/);
		const read = await run("mcp_read_resource", { connection_id: "web", uri });
		assert.equal(read.isError, false);
		assert.ok(read.content.length > 0);
	});

	itOpened("have the documented error texts", async ({ run }) => {
		const silent = nodeCommand(ODD_SERVER, "silent");
		const late = await run("mcp_connect", { id: "late", url: silent, timeout: 1_000 });
		assert.deepEqual([late.text, late.isError], ["Connection failed: Connection timeout after 1000ms", true]);
		const odd = await run("mcp_connect", { id: "odd", url: "ftp://localhost", type: "http" });
		assert.match(odd.text, /^Error: url: Invalid protocol/);
		assert.match(
			(await run("mcp_connect", { id: "no spaces", url: "x" })).text,
			/^Error: id: must contain only alphanumeric/,
		);
		await run("mcp_connect", { id: "good", url: nodeCommand(ODD_SERVER) });
		const again = await run("mcp_connect", { id: "good", url: nodeCommand(ODD_SERVER) });
		assert.deepEqual([again.text, again.isError], ["Error: Connection 'good' already exists", true]);
		for (const name of ["mcp_disconnect", "mcp_list_tools", "mcp_list_resources"]) {
			assert.equal((await run(name, { id: "x" })).text, "Error: Connection 'x' not found");
		}
		const tool = await run("mcp_call_tool", { connection_id: "good", tool_name: "invalid_tool" });
		assert.deepEqual([tool.text, tool.isError], ["Error: Tool 'invalid_tool' not found on server", true]);
		const args = await run("mcp_call_tool", { connection_id: "good", tool_name: "echo", arguments: { text: 1 } });
		assert.match(args.text, /^Error: .*text/);
		assert.match((await run("mcp_disconnect", {})).text, /^Error: Invalid arguments: id: /);
		assert.equal((await run("mcp_reload_config")).text, "Error: there is no MCP config file");
	});

	itOpened("take null for an argument that is left out", async ({ run }) => {
		await run("mcp_connect", { id: "good", url: nodeCommand(ODD_SERVER), type: null, headers: null });
		assert.match((await run("mcp_list_tools", { id: null })).text, /^Tools from 'good'/);
		const call = { connection_id: "good", tool_name: "echo", arguments: null };
		assert.equal((await run("mcp_call_tool", call)).text, "echo: undefined");
	});

	it("say that there may be no more connections", async (t) => {
		const { run } = await open(t, { options: { maxConnections: 1 } });
		await run("mcp_connect", { id: "busy", url: nodeCommand(ODD_SERVER) });
		const call = (text: string) =>
			run("mcp_call_tool", { connection_id: "busy", tool_name: "write", arguments: { text } });
		void call("never");
		// Calls begin in their order: when this one has ended, the one before it runs.
		await call("hello");
		const more = await run("mcp_connect", { id: "more", url: nodeCommand(ODD_SERVER) });
		assert.equal(more.text, "Connection failed: Maximum connections (1) reached");
	});

	it("reload the file, with or without the existing connections", async (t) => {
		const folder = temporaryFolder();
		const file = `${folder}/mcp-servers.json`;
		const servers = ["server-a", "server-b"].map((id) => ({ ...nodeServer(id, ODD_SERVER), enabled: true }));
		await writeFile(file, JSON.stringify({ servers: servers.slice(0, 1) }));
		const { run } = await open(t, { file });
		await writeFile(file, JSON.stringify({ servers }));
		assert.equal(
			(await run("mcp_reload_config")).text,
			`Reloaded MCP config from ${file}\nConnected: server-a, server-b`,
		);
		assert.equal(
			(await run("mcp_reload_config", { disconnect_existing: true })).text,
			`Disconnected 2 existing connection(s)\nReloaded MCP config from ${file}\nConnected: server-a, server-b`,
		);
	});

	it("ask the person before a call that is not approved, and show tool and arguments", async (t) => {
		const asked: unknown[] = [];
		const approve = async (request: unknown) => {
			asked.push(request);
			return false;
		};
		const servers = [{ ...nodeServer("odd", ODD_SERVER), autoApprove: ["ec*"] }];
		const { run } = await open(t, { servers }, { approve });
		const call = (tool_name: string) =>
			run("mcp_call_tool", { connection_id: "odd", tool_name, arguments: { text: "x" } });
		assert.equal((await call("echo")).text, "echo: x");
		assert.equal((await call("write")).text, "Error: The call of 'write' was not approved");
		assert.deepEqual(asked, [{ server: "odd", tool: "write", args: { text: "x" } }]);
	});

	itOpened("register notification handlers", async ({ run, notes }) => {
		await run("mcp_connect", { id: "everything", url: nodeCommand(EVERYTHING) });
		assert.equal(
			(
				await run("mcp_register_notification_handler", {
					types: ["tools/list_changed"],
					description: "Monitor tool changes",
				})
			).text,
			"Registered notification handler: handler-1\nConnection filter: all connections\nType filter: tools/list_changed",
		);
		await run("mcp_register_notification_handler", { connection_id: "everything", types: ["logging/setLevel"] });
		await run("mcp_call_tool", { connection_id: "everything", tool_name: "toggle-simulated-logging" });
		await until(() => notes.length > 0, "a log message has come");
		assert.match(notes[0] ?? "", /^handler-2: logging\/setLevel from 'everything' /);
		const odd = await run("mcp_register_notification_handler", { types: ["tools/list_changed", "progres"] });
		assert.equal(odd.isError, true);
		assert.match(odd.text, /^Error: unknown notification type 'progres': expected one of .*progress/);
	});

	itOpened("tell of progress, and of what a server cancels", async ({ run, notes }) => {
		await run("mcp_connect", { id: "everything", url: nodeCommand(EVERYTHING) });
		await run("mcp_connect", { id: "odd", url: nodeCommand(ODD_SERVER) });
		await run("mcp_register_notification_handler", { types: ["progress", "cancelled"] });
		const tool_name = "trigger-long-running-operation";
		await run("mcp_call_tool", { connection_id: "everything", tool_name, arguments: { duration: 0.1, steps: 2 } });
		await until(
			() => notes.some((note) => /: progress from 'everything' .*"progress":2/.test(note)),
			"progress is told",
		);
		await run("mcp_call_tool", { connection_id: "odd", tool_name: "write", arguments: { text: "withdraw" } });
		await until(() => notes.some((note) => /: cancelled from 'odd' \{"requestId":"x"\}/.test(note)), "so is the end");
	});

	it("connect to a lazy server when it is first named, and no sooner", async (t) => {
		const servers = ["listed", "called", "read"].map((id) => ({ ...nodeServer(id, ODD_SERVER), lazy: true }));
		const { run, manager } = await open(t, { servers });
		assert.match((await run("mcp_list_connections")).text, /- listed: .*\[disconnected\] \(0 tools\)\n- called: /);
		assert.match((await run("mcp_list_tools", { id: "listed" })).text, /^Tools from 'listed' \(2\)/);
		const call = { connection_id: "called", tool_name: "echo", arguments: { text: "x" } };
		assert.equal((await run("mcp_call_tool", call)).text, "echo: x");
		assert.equal((await run("mcp_list_resources", { id: "read" })).text, "Resources from 'read' (0):");
		assert.equal(manager.listConnections().filter(({ status }) => status === "connected").length, 3);
	});

	it("connect with headers, which nobody is shown", async (t) => {
		const { url, headers } = await startPlainUpstream(t);
		const shown: string[] = [];
		const approveConnection = async (...what: string[]) => shown.push(...what) > 0;
		const { run, manager } = await open(t, {}, { approveConnection });
		for (const event of ["warning", "status", "debug"] as const) {
			manager.on(event, (...what: string[]) => shown.push(...what));
		}
		const secret = { Authorization: "Bearer secret" };
		shown.push((await run("mcp_connect", { id: "web", url, headers: secret })).text);
		shown.push((await run("mcp_list_connections")).text);
		assert.ok(headers.every(({ authorization }) => authorization === "Bearer secret"));
		shown.push((await run("mcp_connect", { id: "bad", url, headers: { Authorization: "secret\n" } })).text);
		assert.match(shown.at(-1) ?? "", /^Error: headers.Authorization: invalid character/);
		assert.doesNotMatch(shown.join("\n"), /secret/);
	});
});
