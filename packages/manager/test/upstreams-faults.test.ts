import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { until } from "../../../host-test/support/testing.js";
import type { Server } from "../src/core/server.js";
import type { McpManagerOptions } from "../src/manager/mcp-types.js";
import type { ServerInput } from "../src/upstreams/server-config.js";
import {
	callText,
	isGroupRunning,
	nodeServer,
	ODD_SERVER,
	openServers,
	processesOf,
	startEverything,
} from "../testing/upstreams.js";

const QUICK = { maxRetries: 3, initialDelay: 10, maxDelay: 50 };

async function open(t: TestContext, inputs: readonly ServerInput[], options?: McpManagerOptions["options"]) {
	const opened = await openServers(t, options);
	return { configured: inputs.map(opened.add), ...opened };
}

async function openOne(t: TestContext, input: ServerInput, options?: McpManagerOptions["options"]) {
	const { configured, ...rest } = await open(t, [input], options);
	const [only] = configured;
	assert.ok(only);
	return { configured: only, ...rest };
}

const odd = (id: string, behaviour = "good", more: Partial<ServerInput> = {}): ServerInput => ({
	// The option has no effect: it marks the process.
	...nodeServer(id, `--conditions=faulty-${id}`, ODD_SERVER, behaviour),
	...more,
});

const call = (server: Server, text: string, name = "write") => callText(server, name, { text });

const pidsOf = (id: string): Promise<number[]> => processesOf(`faulty-${id}`);

describe("faults of configured servers", () => {
	it("fail the call under way if the process is killed, and the server is connected again; others go on", async (t) => {
		const { configured } = await open(t, [odd("one", "good", { retryPolicy: QUICK }), odd("two")]);
		const [one, two] = await Promise.all(configured.map((each) => each.connect()));
		const [first] = configured;
		assert.ok(one && two && first);
		const cut = assert.rejects(call(one, "never"), {
			code: "server-disconnected",
			message: /may have been carried out/,
		});
		const [pid = Number.NaN] = await pidsOf("one");
		await until(() => one.busy, "the call runs");
		process.kill(pid, "SIGKILL");
		await cut;
		assert.equal(await call(two, "still here"), "write: still here");
		await until(() => first.status === "connected", "it is connected again");
		assert.notDeepEqual(await pidsOf("one"), [pid]);
		assert.equal(await call(one, "again"), "write: again");
	});

	it("fail the call under way if a server over HTTP is killed", async (t) => {
		const { child, port } = await startEverything(t, "streamableHttp");
		const { configured } = await openOne(t, { id: "http", url: `http://127.0.0.1:${port}/mcp` });
		const server = await configured.connect();
		const cut = assert.rejects(callText(server, "trigger-long-running-operation", { duration: 60, steps: 60 }), {
			code: "server-disconnected",
		});
		await until(() => server.busy, "the call runs");
		child.kill("SIGKILL");
		await cut;
		assert.equal(configured.status, "error");
		assert.match(configured.lastError, /ECONNREFUSED|other side closed|ECONNRESET/);
	});

	it("are told as a timeout if it never answers the handshake", async (t) => {
		const { configured } = await openOne(t, odd("silent", "silent", { timeout: 1_000 }));
		await assert.rejects(configured.connect(), { message: "Connection failed: Connection timeout after 1000ms" });
		assert.equal(configured.status, "error");
		await until(async () => (await pidsOf("silent")).length === 0, "the process has ended");
	});

	it("are told as a timeout if it never answers a call, which others do not notice", async (t) => {
		const { configured } = await openOne(t, odd("slow", "good"));
		const server = await configured.connect();
		t.mock.timers.enable({ apis: ["setTimeout"] });
		const never = assert.rejects(call(server, "never"), { code: "timeout" });
		assert.equal(await call(server, "quick"), "write: quick");
		t.mock.timers.tick(60_000);
		await never;
		assert.equal(configured.status, "connected");
	});

	it("name what it sent, if that is not MCP", async (t) => {
		const { configured } = await openOne(t, odd("garbage", "garbage", { timeout: 1_000 }));
		await assert.rejects(configured.connect(), {
			message: /^Connection failed: Connection timeout after 1000ms \(.+\)$/s,
		});
	});

	it("do not come from a flood of standard error, which takes no memory", async (t) => {
		const { configured } = await openOne(t, odd("flood", "flood"));
		const server = await configured.connect();
		assert.equal(await call(server, "hello"), "write: hello");
	});

	for (const flood of ["flood-garbage", "flood-lists", "flood-logs"]) {
		it(`end a server that sends without end (${flood}), and another one answers meanwhile`, async (t) => {
			// The flood comes in one second, however long this process takes to read it.
			const now = performance.now();
			t.mock.method(performance, "now", () => now);
			const { configured } = await open(t, [odd("noisy", flood), odd("quiet")]);
			const [noisy, quiet] = configured;
			const [, server] = await Promise.all(configured.map((each) => each.connect().catch(() => undefined)));
			assert.ok(noisy && quiet && server);
			await until(() => noisy.lastError === "more than 1000 messages in a second", "the flood was ended");
			assert.equal(await call(server, "hello"), "write: hello");
		});
	}

	it("name the exit code and the last words of a process that ends at once", async (t) => {
		const { configured } = await openOne(t, odd("crash", "crash"));
		await assert.rejects(configured.connect(), {
			message: "Connection failed: the process ended with code 3: no licence found",
		});
	});

	it("name the reason of a server that rejects the handshake", async (t) => {
		const { configured } = await openOne(t, odd("unlicensed", "unlicensed"));
		for (const attempt of [1, 2]) {
			const message = "Connection failed: no licence found";
			await assert.rejects(configured.connect(), { message }, `attempt ${attempt}`);
		}
	});

	it("name the working folder if it does not exist", async (t) => {
		const { configured } = await openOne(t, odd("lost", "good", { cwd: "/nowhere" }));
		await assert.rejects(configured.connect(), { message: /the working folder \/nowhere does not exist$/ });
	});

	it("end a connection whose server answers no ping", async (t) => {
		const { configured } = await openOne(t, odd("deaf", "deaf"), { pingInterval: 100 });
		await configured.connect();
		await until(() => configured.lastError === "no response to a ping", "the connection has ended");
	});

	it("are retried by policy only where the tool is safe to call twice", async (t) => {
		const { configured } = await openOne(t, odd("policy", "good", { retryPolicy: { ...QUICK, maxRetries: 2 } }));
		const server = await configured.connect();
		await assert.rejects(call(server, "crash"), { code: "server-disconnected" });
		await assert.rejects(call(server, "crash", "echo"), {
			code: "retries-exceeded",
			message: /^Failed after 2 retries: /,
		});
	});

	it("leave no process behind: not one that ignores the end of its input, nor what it has started", async (t) => {
		const { configured, servers } = await open(t, [odd("stubborn", "stubborn"), odd("child", "child")]);
		await Promise.all(configured.map((each) => each.connect()));
		const pids = [...(await pidsOf("stubborn")), ...(await pidsOf("child"))];
		assert.equal(pids.length, 2);
		await servers.close();
		for (const pid of pids) {
			await until(async () => !(await isGroupRunning(pid)), `nothing of the process group ${pid} is left`);
		}
	});
});
