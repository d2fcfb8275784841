import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { startPlainUpstream } from "xs-mcp-manager/testing/plain-upstream";
import { EVERYTHING, ODD_SERVER } from "xs-mcp-manager/testing/upstreams";
import { listen, until } from "../../../host-test/support/testing.js";
import { startPi, writeServers } from "./pi.js";

/** server-everything over stdio, as pi's file of servers has it. */
const SERVER = { id: "everything", url: `${process.execPath} ${EVERYTHING} stdio`, enabled: true };

const TALKING = fileURLToPath(new URL("../../manager/testing/talking-server.mjs", import.meta.url));

/** Gives long results, and asks during a call. */
const TALKATIVE = { id: "talking", url: `${process.execPath} ${TALKING}`, enabled: true, autoApprove: true };

const NINE = [
	"mcp_connect",
	"mcp_disconnect",
	"mcp_list_connections",
	"mcp_list_tools",
	"mcp_call_tool",
	"mcp_list_resources",
	"mcp_read_resource",
	"mcp_reload_config",
	"mcp_register_notification_handler",
];

describe("the extension for pi", () => {
	it("connects the enabled servers when the session starts, tells the person, and offers the nine tools", async (t) => {
		const broken = { id: "broken", url: "/no/such/command", enabled: true };
		const pi = await startPi(t, [SERVER, broken, { ...SERVER, id: "other", enabled: false }]);
		await until(() => pi.shown("notify").some((text) => text.startsWith("Failed")), "the person is told");
		await until(() => pi.shown("notify").includes("Auto-connected: everything"), "also of the other one");
		assert.match(pi.shown("notify").join("\n"), /Failed to auto-connect: broken: .*\/no\/such\/command/);
		await pi.ask("Hello", []);
		const offered = pi.model.requests[0]?.tools?.map((tool) => tool.function.name) ?? [];
		assert.deepEqual(
			offered.filter((name) => name.startsWith("mcp_")),
			NINE,
		);
	});

	it("shows the model the schemas of the tools' arguments", async (t) => {
		const pi = await startPi(t, [SERVER]);
		await pi.call("mcp_list_tools", { id: "everything" });
		const seen = JSON.stringify(pi.model.requests.at(-1)?.messages);
		assert.match(seen, /"message\\+":\{\\+"type\\+":\\+"string\\+"/);
	});

	it("finds a file of servers that is made after the session has started", async (t) => {
		const pi = await startPi(t);
		assert.match((await pi.call("mcp_reload_config", {})).text, /mcp-servers\.json.*no such file/);
		assert.equal(pi.shown("notify").filter((text) => /mcp-servers/.test(text)).length, 1);
		writeServers(pi.project, [SERVER]);
		assert.match((await pi.call("mcp_reload_config", {})).text, /Connected: everything/);
		writeServers(pi.project, []);
		await until(() => pi.call("mcp_list_connections", {}).then(({ text }) => /No active/.test(text)), "it is followed");
	});

	it("starts while a server does not answer, and tells the person later what became of it", async (t) => {
		const silent = { id: "silent", url: `${process.execPath} ${ODD_SERVER} silent`, enabled: true, timeout: 300_000 };
		const pi = await startPi(t, [SERVER, silent]);
		assert.match((await pi.call("mcp_list_connections", {})).text, /silent: .*\[connecting\]/);
		assert.match(pi.shown("notify").join("\n"), /^Still connecting: .*silent/m);
		writeServers(pi.project, [SERVER, { ...silent, url: SERVER.url }]);
		await until(() => pi.shown("notify").includes("Auto-connected: silent"), "the person is told");
	});

	it("shows twenty of a thousand warnings, and says that there are more", async (t) => {
		const unusable = Array.from({ length: 1_000 }, (_, index) => ({ id: `server${index}`, enabled: true }));
		const pi = await startPi(t, [...unusable, SERVER]);
		await until(() => pi.shown("notify").includes("Auto-connected: everything"), "the usable one is connected");
		const shown = pi.shown("notify");
		assert.equal(shown.filter((text) => /\bservers?\W?\d+/.test(text)).length, 20, shown.join("\n"));
		assert.equal(shown.filter((text) => text === "More than 20 warnings: the others are not shown").length, 1);
	});

	it("asks the person before it connects to a server that is not in the file", async (t) => {
		const pi = await startPi(t, []);
		pi.answers.confirm = false;
		const rejected = await pi.call("mcp_connect", { id: "second", url: SERVER.url });
		assert.deepEqual(rejected, { text: "Error: The connection to 'second' was not approved", isError: true });
		assert.match(pi.shown("confirm")[0] ?? "", /Connect to second\?\n.*server-everything/);
	});

	it("lets the model use all nine tools", async (t) => {
		const pi = await startPi(t, [{ ...SERVER, autoApprove: true }]);
		assert.match((await pi.call("mcp_list_tools", { id: "everything" })).text, /Tools from 'everything'.*\n.*echo/);
		assert.match((await pi.call("mcp_list_connections", {})).text, /everything: .*\[connected\]/);
		const args = { connection_id: "everything", tool_name: "echo", arguments: { message: "hello" } };
		assert.deepEqual(await pi.call("mcp_call_tool", args), { text: "Echo: hello", isError: false });
		const [image] = await pi.ask("An image", [
			{ tool: "mcp_call_tool", args: { connection_id: "everything", tool_name: "get-tiny-image" } },
		]);
		assert.ok(image?.result.content.some(({ type }) => type === "image"));
		const resources = (await pi.call("mcp_list_resources", { id: "everything" })).text;
		const uri = /- (demo:\S+\.md):/.exec(resources)?.[1];
		assert.ok(uri !== undefined, resources);
		assert.equal((await pi.call("mcp_read_resource", { connection_id: "everything", uri })).isError, false);
		const second = { id: "second", url: SERVER.url };
		assert.match((await pi.call("mcp_connect", second)).text, /Successfully connected.*Connection ID: second/s);
		const handler = await pi.call("mcp_register_notification_handler", { types: ["tools/list_changed"] });
		assert.match(handler.text, /Registered notification handler/);
		assert.match((await pi.call("mcp_disconnect", { id: "second" })).text, /Disconnected from 'second'/);
		assert.match((await pi.call("mcp_reload_config", { disconnect_existing: true })).text, /Connected: everything/);
		const unknown = await pi.call("mcp_call_tool", { ...args, connection_id: "nobody" });
		assert.deepEqual(unknown, { text: "Error: Connection 'nobody' not found", isError: true });
	});

	it("tells the person of an outage once, however often it is tried again", async (t) => {
		const asked = new Map<string | undefined, number>();
		const server = createServer((request, response) => {
			asked.set(request.url, (asked.get(request.url) ?? 0) + 1);
			request.resume();
			response.writeHead(Number(request.url?.slice(1))).end();
		});
		const port = await listen(t, server);
		const retryPolicy = { maxRetries: 100, initialDelay: 10, maxDelay: 10 };
		const entry = (status: number) => ({
			id: `s${status}`,
			url: `http://127.0.0.1:${port}/${status}`,
			enabled: true,
			retryPolicy,
		});
		const pi = await startPi(t, [401, 403, 500].map(entry));
		await until(() => (asked.get("/500") ?? 0) > 30, "it is tried again");
		for (const status of [401, 403, 500]) {
			const notices = pi.shown("notify").filter((text) => text.includes(`s${status}`));
			assert.equal(notices.length, 1, notices.join("\n"));
			assert.match(notices[0] ?? "", new RegExp(`^Failed to auto-connect: s${status}: HTTP ${status}`));
		}
	});

	it("connects to a server over HTTP, with pi's own fetch", async (t) => {
		const { url } = await startPlainUpstream(t);
		const pi = await startPi(t, [{ id: "plain", url, enabled: true, autoApprove: true }]);
		const called = await pi.call("mcp_call_tool", { connection_id: "plain", tool_name: "count" });
		assert.deepEqual(called, { text: "counted", isError: false });
	});

	it("asks the person before a call, and makes it only if the person says yes", async (t) => {
		const pi = await startPi(t, [SERVER]);
		const args = { connection_id: "everything", tool_name: "echo", arguments: { message: "hello" } };
		assert.deepEqual(await pi.call("mcp_call_tool", args), { text: "Echo: hello", isError: false });
		assert.match(pi.shown("confirm")[0] ?? "", /Call echo of everything\?.*"message": "hello"/s);
		pi.answers.confirm = false;
		const rejected = await pi.call("mcp_call_tool", args);
		assert.equal(rejected.isError, true);
		assert.match(rejected.text, /'echo' was not approved/);
	});

	it("shows the model the beginning of a long result, and where the rest is", async (t) => {
		const pi = await startPi(t, [TALKATIVE]);
		const call = (count: number, length: number, fail = false) =>
			pi.call("mcp_call_tool", { connection_id: "talking", tool_name: "lines", arguments: { count, length, fail } });
		const fits = await call(2_000, 10);
		assert.doesNotMatch(fits.text, /Truncated/);
		for (const [count, length, shown] of [
			[2_001, 2, "2000 of 2001 lines"],
			[40_000, 100, "259 of 40000 lines"],
			[1, 4_000_000, "1 of 1 lines (50.0 KB of 7.6 MB)"],
		] as const) {
			const { text } = await call(count, length);
			assert.ok(Buffer.byteLength(text) < 52_000, `${Buffer.byteLength(text)} bytes`);
			assert.ok(text.includes(shown), text.slice(-200));
			const path = /Full output: (.*)\]$/.exec(text)?.[1] ?? "";
			assert.equal((await readFile(path, "utf8")).split("\n").length, count);
		}
		const failed = await call(40_000, 100, true);
		assert.ok(failed.isError && Buffer.byteLength(failed.text) < 52_000);
		assert.ok(JSON.stringify(pi.model.requests.at(-1)).length < 400_000);
		const path = /Full output: (.*)\]$/.exec(failed.text)?.[1] ?? "";
		await pi.end();
		await until(() => !existsSync(path), "the files end with the session");
	});

	it("puts the questions of a server during a call to the person", async (t) => {
		const pi = await startPi(t, [TALKATIVE]);
		Object.assign(pi.answers, { input: "3", select: "large" });
		const greet = { connection_id: "talking", tool_name: "greet" };
		const { text } = await pi.call("mcp_call_tool", greet);
		const content = { name: "3", size: "large", times: 3 };
		assert.deepEqual(JSON.parse(text.replace("Hello: ", "")), { action: "accept", content });
		assert.deepEqual(
			[...pi.shown("input"), ...pi.shown("select")].map((shown) => shown.split("\n").slice(0, 2)),
			["Your name", "times", "size"].map((label) => ["talking asks: Who is there?", label]),
		);
	});

	it("offers the tools of a server by themselves if the file says so, with approval, as they change", async (t) => {
		const direct = { ...TALKATIVE, autoApprove: false, directTools: ["gr*"] };
		const pi = await startPi(t, [SERVER, direct]);
		const offered = async (): Promise<string[]> => {
			await pi.ask("Hello", []);
			return pi.model.requests.at(-1)?.tools?.map((tool) => tool.function.name) ?? [];
		};
		const names = await offered();
		assert.ok(names.includes("talking_greet"), names.join());
		assert.deepEqual(names.filter((name) => name.startsWith("talking_") || name.startsWith("everything_")).length, 1);
		pi.answers.confirm = false;
		assert.match((await pi.call("talking_greet", {})).text, /'greet' was not approved/);
		assert.match(pi.shown("confirm")[0] ?? "", /Call greet of talking\?/);
		writeServers(pi.project, [SERVER, { ...direct, directTools: ["lines"], autoApprove: true }]);
		await until(async () => (await offered()).includes("talking_lines"), "the file is followed");
		assert.ok(!(await offered()).includes("talking_greet"));
		assert.deepEqual(await pi.call("talking_lines", { count: 1, length: 2 }), { text: "1 ", isError: false });
	});

	it("makes the servers' prompts slash commands, and asks for arguments that are missing", async (t) => {
		const pi = await startPi(t, [SERVER]);
		pi.send({ id: "commands", type: "get_commands" });
		await until(() => pi.messages.some(({ id }) => id === "commands"), "the commands are listed");
		assert.match(JSON.stringify(pi.messages.find(({ id }) => id === "commands")), /everything:simple-prompt/);
		await pi.ask("/everything:args-prompt Paris Texas", []);
		assert.match(JSON.stringify(pi.model.requests.at(-1)?.messages.at(-1)), /Paris.*Texas/);
		pi.answers.input = "Berlin";
		await pi.ask("/everything:args-prompt", []);
		assert.match(JSON.stringify(pi.model.requests.at(-1)?.messages.at(-1)), /Berlin/);
	});

	it("disconnects when the session ends: no process is left", async (t) => {
		const mark = `mark-${process.pid}`;
		const pi = await startPi(t, [{ ...SERVER, url: `${SERVER.url} ${mark}`, autoApprove: true }]);
		await pi.ask("Hello", []);
		assert.equal((await processesWith(mark)).length, 1);
		await pi.end();
		await until(async () => (await processesWith(mark)).length === 0, "the server has ended");
	});
});

/** The ids of the processes that have this argument; the shell that guards one names it, too, and is not counted. */
async function processesWith(argument: string): Promise<string[]> {
	const found: string[] = [];
	for (const id of (await readdir("/proc")).filter((name) => /^[0-9]+$/.test(name))) {
		const words = (await readFile(`/proc/${id}/cmdline`, "utf8").catch(() => "")).split("\0");
		if (words.includes(argument) && words[0] === process.execPath) {
			found.push(id);
		}
	}
	return found;
}
