import assert from "node:assert/strict";
import { once } from "node:events";
import { unwatchFile, watchFile } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { MemoryStore, ServerError } from "xs-mcp-manager/core";
import { passTime, temporaryFolder, testWith, until } from "../../../host-test/support/testing.js";
import { NO_OFFERS } from "../src/core/offers.js";
import {
	type LocalTool,
	type ManagementCaller,
	McpError,
	McpManager,
	validateServersFile,
} from "../src/manager/index.js";
import { openManager, runTool } from "../testing/manager.js";
import { connected, EVERYTHING, nodeServer, ODD_SERVER, openServers, textOf } from "../testing/upstreams.js";

const itManager = testWith(openManager);

const odd = (id: string, ...args: string[]) => nodeServer(id, ODD_SERVER, "good", ...args);

const statusOf = (manager: McpManager, id: string) =>
	manager.listConnections().find((connection) => connection.id === id)?.status;

describe("McpManager", () => {
	it("says that it is not initialized", async () => {
		const manager = new McpManager({ servers: [odd("one")] });
		const { error } = await manager.executeTool("echo");
		assert.equal(error?.code, "INVALID_REQUEST");
		assert.match(error?.message ?? "", /call initialize\(\)/);
		assert.throws(() => manager.listTools(), { name: "McpError", code: "INVALID_REQUEST" });
		await manager.close();
	});

	it("names the reason of a server that failed to start in the error of a call", async (t) => {
		const manager = await openManager(t, { servers: [nodeServer("broken", ODD_SERVER, "crash")] });
		const { error } = await manager.executeTool("echo");
		assert.equal(error?.code, "TOOL_NOT_FOUND");
		assert.match(error?.message ?? "", /'broken' is not connected: .*no licence found/);
	});

	it("tells a resource that does not exist from wrong parameters, and disconnects", async (t) => {
		const manager = await openManager(t, { servers: [nodeServer("everything", EVERYTHING)] });
		await assert.rejects(manager.readResource("everything", "demo://no/such/resource"), { code: "RESOURCE_NOT_FOUND" });
		await manager.disconnect("everything");
		assert.deepEqual(manager.listConnections(), []);
	});

	itManager("registers servers later, by name, and gives tools that can be executed", async (manager) => {
		const { id: _, ...unnamed } = odd("x");
		await manager.registerServer({ ...unnamed, name: "database", transport: "stdio" });
		const tool = manager.getTool("write");
		assert.equal(tool?.server, "database");
		assert.equal(tool?.version, "1.0.0");
		assert.equal((await tool?.execute({ text: "x" }))?.success, true);
		assert.equal(manager.getTool("missing"), null);
		await assert.rejects(manager.registerServer({ ...unnamed, name: "database" }), McpError);
	});

	it("runs 100 calls in parallel, at most 10 at the same time, in order, each failure on its own", async (t) => {
		const servers = [{ ...odd("one"), maxParallel: 100 }];
		const manager = await openManager(t, { servers, options: { maxParallel: 10 } });
		const results = await manager.executeParallel(
			Array.from({ length: 100 }, (_, index) => ({
				tool: index === 50 ? "missing" : "write",
				params: {
					text: String(index),
					delay: (index * 7) % 20,
					fail: index === 30,
					...(index < 10 ? { together: 10 } : {}),
				},
			})),
		);
		results.forEach(({ success, data, error }, index) => {
			if (index === 30) {
				assert.deepEqual([error?.code, error?.message, error?.retryable], ["EXECUTION_FAILED", "it failed", false]);
			} else if (index === 50) {
				assert.equal(error?.code, "TOOL_NOT_FOUND");
			} else {
				assert.equal(success, true);
				assert.equal(textOf(data ?? {}), `write: ${index}`);
			}
		});
		const most = await manager.executeTool("write", { most: true });
		assert.equal(textOf(most.data ?? {}), "10");
	});

	it("has the documented error codes, and says what may be retried", async (t) => {
		const retryPolicy = { maxRetries: 1, initialDelay: 1 };
		const manager = await openManager(t, {
			servers: [
				{ ...odd("one"), tools: { deny: ["write"] } },
				{ ...odd("two", "two"), retryPolicy },
			],
		});
		const codeOf = async (tool: string, params: object, server?: string) => {
			const { error } = await manager.executeTool(tool, params, { server });
			return [error?.code, error?.retryable];
		};
		assert.deepEqual(await codeOf("missing", {}), ["TOOL_NOT_FOUND", false]);
		assert.deepEqual(await codeOf("echo", {}), ["TOOL_NOT_FOUND", false], "on two servers");
		assert.deepEqual(await codeOf("echo", { text: 1 }, "one"), ["INVALID_PARAMS", false]);
		assert.deepEqual(await codeOf("write", { text: "x" }, "one"), ["PERMISSION_DENIED", false]);
		assert.deepEqual(await passTime(t, () => codeOf("echo", { text: "never" }, "one")), ["TIMEOUT", true]);
		assert.deepEqual(await codeOf("write", { text: "crash" }, "two"), ["CONNECTION_LOST", false]);
		assert.deepEqual(await codeOf("echo", { text: "crash" }, "two"), ["MAX_RETRIES_EXCEEDED", false]);
		assert.deepEqual(await codeOf("echo", {}, "three"), ["CONNECTION_FAILED", false]);
		await assert.rejects(manager.readResource("one", "file:///nothing"), { code: "METHOD_NOT_FOUND" });
	});

	it("rejects with errors that are not taken for those of servers", () => {
		assert.ok(!(new McpError("PERMISSION_DENIED", "x") instanceof ServerError));
		assert.ok(new ServerError("timeout", "x") instanceof ServerError);
	});

	it("asks for approval, where it was told to, of each call that autoApprove does not name", async (t) => {
		const asked: string[] = [];
		const approve = async ({ tool }: { tool: string }) => asked.push(tool) > 1;
		const manager = await openManager(t, { servers: [{ ...odd("one"), autoApprove: ["echo"] }], approve });
		assert.equal((await manager.executeTool("echo", { text: "x" })).success, true);
		assert.equal((await manager.executeTool("write", { text: "x" })).error?.code, "PERMISSION_DENIED");
		assert.equal((await manager.executeTool("write", { text: "x" })).success, true);
		assert.deepEqual(asked, ["write", "write"]);
	});

	it("lists and executes prompts, lists and reads resources, and keeps what was read until it changes", async (t) => {
		const manager = await openManager(t, { servers: [nodeServer("everything", EVERYTHING)] });
		const prompt = manager.listPrompts("everything").find(({ arguments: args }) => (args ?? []).length === 0);
		assert.ok(prompt);
		assert.ok((await manager.executePrompt("everything", prompt.name)).length > 0);
		const [resource] = manager.listResources("everything");
		assert.ok(resource);
		const first = await manager.readResource("everything", resource.uri);
		assert.equal(await manager.readResource("everything", resource.uri), first);
		assert.notEqual(await manager.readResource("everything", resource.uri, { fresh: true }), first);
		const updated = once(manager, "notification");
		await manager.executeTool("toggle-subscriber-updates");
		const [server, type, { uri }] = await updated;
		assert.deepEqual([server, type, uri], ["everything", "resources/updated", resource.uri]);
		assert.notEqual(await manager.readResource("everything", resource.uri), first);
		assert.throws(() => manager.listPrompts("missing"), { message: "Connection 'missing' not found" });
	});

	itManager("says which field of a registered server is not valid", async (manager) => {
		await assert.rejects(manager.registerServer({ ...odd("one"), timeout: 5 }), {
			code: "INVALID_REQUEST",
			message: /^timeout: /,
		});
		await assert.rejects(manager.registerServer({ name: "one" }), { message: /^url: expected either url or command/ });
	});

	it("follows its file, and closes at once, while a server does not answer", async (_t) => {
		const file = `${temporaryFolder()}/mcp-servers.json`;
		const silent = { ...nodeServer("silent", ODD_SERVER, "silent"), enabled: true, timeout: 300_000 };
		await writeFile(file, JSON.stringify({ servers: [silent] }));
		const manager = new McpManager({ file });
		const initialized = manager.initialize();
		await once(manager, "status");
		assert.equal(statusOf(manager, "silent"), "connecting");
		await writeFile(file, JSON.stringify({ servers: [silent, { ...odd("one"), enabled: true }] }));
		await until(() => statusOf(manager, "one") === "connected", "the new server is connected");
		await manager.close();
		await initialized;
		assert.deepEqual(manager.listConnections(), []);
	});

	it("waits no longer than it was told to for servers that do not answer", async (t) => {
		const silent = { ...nodeServer("silent", ODD_SERVER, "silent"), timeout: 300_000 };
		const manager = new McpManager({ servers: [silent] });
		t.after(() => manager.close());
		await manager.initialize(1);
		assert.equal(statusOf(manager, "silent"), "connecting");
	});

	it("finds its file when it is made later, if it may be absent, and follows it then", async (t) => {
		const folder = `${temporaryFolder()}/later`;
		const file = `${folder}/mcp-servers.json`;
		const manager = new McpManager({ file, isFileOptional: true });
		const warnings: string[] = [];
		manager.on("warning", (warning) => warnings.push(warning));
		t.after(() => manager.close());
		await manager.initialize();
		assert.deepEqual(warnings, []);
		await mkdir(folder);
		await writeFile(file, JSON.stringify({ servers: [{ ...odd("one"), enabled: true }] }));
		await manager.reload();
		assert.equal(statusOf(manager, "one"), "connected");
		await writeFile(file, JSON.stringify({ servers: [{ ...odd("two"), enabled: true }] }));
		await until(() => statusOf(manager, "two") === "connected", "the change is followed");
	});

	it("tells what the processes of servers write to standard error, within limits", async (t) => {
		const printed = t.mock.method(console, "error", () => {});
		t.mock.method(performance, "now", () => 5_000);
		const manager = await openManager(t, { servers: [odd("one")], options: { debug: true } });
		const lines: string[] = [];
		manager.on("debug", (server, line) => lines.push(`${server}: ${line}`));
		await manager.executeTool("write", { text: "complain" });
		await until(() => lines.some((line) => /others are dropped/.test(line)), "the lines have come");
		assert.equal(lines[0], "one: first");
		assert.equal(lines.length, 21, "20 in a second, and that the others are dropped");
		assert.deepEqual(printed.mock.calls[0]?.arguments, ["one: first"]);
	});

	it("says what is wrong in a file of servers, with line and field", async (_t) => {
		const file = `${temporaryFolder()}/mcp-servers.yaml`;
		await writeFile(file, "servers:\n  - id: one\n    url: http://localhost/\n    timeout: 5\n");
		const [problem, ...others] = await validateServersFile(file);
		assert.deepEqual([problem?.line, problem?.field, others.length], [4, "servers[0].timeout", 0]);
		await writeFile(file, "servers:\n  - id: one\n    url: http://localhost/\n");
		assert.deepEqual(await validateServersFile(file), []);
		assert.match((await validateServersFile(`${file}.absent`))[0]?.message ?? "", /no such file/);
	});

	it("tells of a server's status as it is lost and connected again", async (t) => {
		const retryPolicy = { initialDelay: 1, maxDelay: 1 };
		const manager = await openManager(t, { servers: [{ ...odd("one"), retryPolicy }] });
		const statuses: string[] = [];
		manager.on("status", (server, status) => statuses.push(`${server} ${status}`));
		void manager.executeTool("write", { text: "crash" });
		await once(manager, "status");
		await until(() => statuses.at(-1) === "one connected", "it is connected again");
		assert.deepEqual(statuses, ["one error", "one connecting", "one connected"]);
	});
});

/** Registers a notification handler, and gives the text of the answer. */
const register = async (manager: McpManager, caller: Partial<ManagementCaller> = {}): Promise<string> =>
	(await runTool(manager, "mcp_register_notification_handler", {}, caller)).text;

describe("registering", () => {
	itManager("keeps the first of two servers that are registered with one id at the same time", async (manager) => {
		const [first, second] = await Promise.allSettled([
			manager.registerServer(odd("one")),
			manager.registerServer(odd("one")),
		]);
		assert.equal(first.status, "fulfilled");
		assert.match(String(second.status === "rejected" && second.reason), /Connection 'one' already exists/);
		assert.equal((await manager.executeTool("echo", { text: "x" }, { server: "one" })).success, true);
	});

	itManager("rejects the id of a server that is still closing as an invalid request", async (manager) => {
		await manager.registerServer(odd("one"));
		const disconnected = manager.disconnect("one");
		const registered = manager.registerServer(odd("one"));
		await assert.rejects(registered, { code: "INVALID_REQUEST", message: "Connection 'one' already exists" });
		await disconnected;
	});

	it("starts nothing once the manager was closed, although a person approves it later", async (t) => {
		const manager = await openManager(t);
		const approved = manager.registerServer(odd("one"), async () => {
			await manager.close();
			return true;
		});
		await assert.rejects(approved, { code: "INVALID_REQUEST", message: "the manager is closed" });
	});

	itManager("keeps no notification handler of a client that has no session", async (manager) => {
		const before = manager.listenerCount("notification");
		const onHandler = (): never => {
			throw new Error("this needs a session");
		};
		assert.match(await register(manager, { onHandler }), /this needs a session/);
		assert.equal(manager.listenerCount("notification"), before);
	});

	itManager("limits the notification handlers", async (manager) => {
		for (let count = 0; count < 100; count += 1) {
			assert.match(await register(manager), /Registered/);
		}
		assert.match(await register(manager), /Error: too many notification handlers \(limit 100\)/);
	});

	it("takes no other server that has the alias for a server that is not connected", async (t) => {
		const { registry, server } = await connected(t, odd("FILES"));
		assert.equal(server.alias, "files");
		const manager = await openManager(t, { registry, servers: [{ ...odd("files"), enabled: false }] });
		const { error } = await manager.executeTool("echo", { text: "secret" }, { server: "files" });
		assert.equal(error?.message, "Connection 'files' is disconnected");
	});

	it("does not end with a device: the error says what keeps one away", async (t) => {
		const store = new MemoryStore();
		const { registry } = await openServers(t, {}, { store });
		const manager = await openManager(t, { registry });
		await store.set("alias/lamp", { device: "aa:bb" });
		await store.set("offers/none", NO_OFFERS);
		await store.set("device/aa:bb", { board: { name: "lamp", version: "1" }, offers: "none", lastSeen: 0 });
		const ids = manager.listConnections().map(({ id }) => id);
		assert.deepEqual(ids, ["lamp"]);
		await assert.rejects(manager.disconnect("lamp"), { message: /^'lamp' is a device.*switch it off/ });
		assert.equal(await manager.disconnect("nobody"), undefined);
	});
});

describe("a reload of the file of servers", () => {
	const listed = (entry: object) => ({ servers: [entry] });
	const named = ({ id, ...entry }: { id: string }) => ({ mcpServers: { [id]: entry } });

	for (const [shape, content] of Object.entries({ servers: listed, mcpServers: named })) {
		it(`leaves a server as it is while its entry in ${shape} is not valid: calls go on`, async (t) => {
			const file = `${temporaryFolder()}/servers.json`;
			const entry = { ...odd("one"), enabled: true };
			await writeFile(file, JSON.stringify(content(entry)));
			const manager = await openManager(t, { file });
			const call = manager.executeTool("write", { text: "x", delay: 1_500 });
			await writeFile(file, JSON.stringify(content({ ...entry, timeout: -1 } as typeof entry)));
			const { problems } = await manager.reload();
			assert.match(problems.join(), /timeout/);
			assert.equal((await call).success, true);
			await writeFile(file, JSON.stringify(content({ ...entry, id: "other" })));
			await manager.reload();
			const ids = manager.listConnections().map(({ id }) => id);
			assert.deepEqual(ids, ["other"]);
		});
	}

	it("waits until the file has stopped changing: one that is being rewritten is not read in part", async (t) => {
		const file = `${temporaryFolder()}/servers.yaml`;
		const entries = ["a", "b", "c"].map((id) => `  - id: ${id}\n    url: http://localhost/\n    enabled: false\n`);
		const write = (count: number) => writeFile(file, `servers:\n${entries.slice(0, count).join("")}`);
		await write(2);
		const manager = await openManager(t, { file });
		t.mock.timers.enable({ apis: ["setTimeout"] });
		const ids = () => manager.configs.map(({ id }) => id).join();
		t.after(() => unwatchFile(file));
		for (const count of [1, 3]) {
			// Node calls all listeners of a file at the same time.
			const seen = new Promise<unknown>((resolve) => watchFile(file, resolve));
			await write(count);
			await seen;
			// The manager has had the time to read it.
			await validateServersFile(file);
			await validateServersFile(file);
			assert.equal(ids(), "a,b");
		}
		t.mock.timers.tick(1_000);
		t.mock.timers.reset();
		await until(() => ids() === "a,b,c", "the whole file is read");
	});

	it("tells of a problem once, whoever has the file read, and again once it was gone meanwhile", async (t) => {
		const file = `${temporaryFolder()}/servers.json`;
		const broken = '{ "servers": [ }';
		await writeFile(file, broken);
		const manager = new McpManager({ file });
		t.after(() => manager.close());
		const warnings: string[] = [];
		manager.on("warning", (warning) => warnings.push(warning));
		await manager.initialize();
		for (const content of [broken, '{ "servers": [] }', broken]) {
			// As editors do. The manager, which watches the file, must not read half of it.
			await writeFile(`${file}.new`, content);
			await rename(`${file}.new`, file);
			await manager.reload();
			await manager.reload();
		}
		const warning = `Failed to parse MCP config file ${file}:1: invalid JSON: unexpected }`;
		assert.deepEqual(warnings, [warning, warning]);
	});
});

const GUARDED = { servers: [odd("odd")], approve: async () => false };

const localTool = (more: Partial<LocalTool> = {}): LocalTool => ({
	name: "test",
	description: "Test tool",
	version: "1.0.0",
	inputSchema: { type: "object", properties: { level: { type: "integer" } } },
	execute: async () => ({ success: true, data: "result" }),
	...more,
});

describe("a tool of the program", () => {
	it("is called as those of servers are, before them, and asks nobody", async (t) => {
		const manager = await openManager(t, GUARDED);
		manager.registerTool(localTool());
		manager.registerTool(localTool({ name: "echo" }));
		const { success, data, metadata } = await manager.executeTool<string>("test", {});
		assert.deepEqual([success, data], [true, "result"]);
		assert.ok(metadata.executionTime >= 0);
		assert.equal((await manager.executeTool<string>("echo", {})).data, "result");
		assert.equal((await manager.executeTool("echo", {}, { server: "odd" })).error?.code, "PERMISSION_DENIED");
		const found = manager.listTools().map(({ server, name }) => `${server}/${name}`);
		assert.deepEqual(found, ["/test", "/echo", "odd/echo", "odd/write"]);
		assert.equal((await manager.getTool("test")?.execute({}))?.success, true);
	});

	it("is not called with arguments that do not fit, and may say so itself", async (t) => {
		const manager = await openManager(t, GUARDED);
		manager.registerTool(localTool({ canExecute: (params) => "level" in params }));
		for (const params of [{ level: "high" }, {}]) {
			assert.equal((await manager.executeTool("test", params)).error?.code, "INVALID_PARAMS");
		}
		assert.equal((await manager.executeTool("test", { level: 1 })).success, true);
	});

	it("has failed if it throws, and is gone when it is removed", async (t) => {
		const manager = await openManager(t, GUARDED);
		const remove = manager.registerTool(
			localTool({
				execute: async () => {
					throw new Error("no paper");
				},
			}),
		);
		assert.throws(() => manager.registerTool(localTool()), { message: "Tool 'test' is already registered" });
		const { error } = await manager.executeTool("test");
		assert.deepEqual([error?.code, error?.message], ["EXECUTION_FAILED", "no paper"]);
		remove();
		assert.equal((await manager.executeTool("test")).error?.code, "TOOL_NOT_FOUND");
	});
});
