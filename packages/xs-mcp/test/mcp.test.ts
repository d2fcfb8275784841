import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expectSection } from "../../../host-test/support/expect-generated.js";
import { typeScript } from "../../../host-test/support/program.js";
import { GARDEN, templateProject } from "../../../host-test/support/template-project.js";
import { PATIENT, temporaryFolder, until } from "../../../host-test/support/testing.js";
import { JobRunner } from "../src/job.js";

const { "device.ts": DEVICE = "", "tools/water-if-dry.ts": TOOL, "test/device.test.js": TEST } = GARDEN;

const HANGING_TEST = `import { writeFileSync } from "node:fs";
import { it } from "node:test";

it("hangs", async () => {
	writeFileSync("pid", String(process.pid));
	await new Promise((resolve) => setTimeout(resolve, 1_000_000));
});
`;

/** A tool whose code is the given text. */
const toolThat = (name: string, code: string): string =>
	`import { ACTS, defineTool } from "xs-mcp";\nexport default defineTool({ name: "${name}", description: "Do it.", annotations: ACTS, needs: [], input: {}, run: () => { ${code} } });\n`;

async function connect(t: TestContext, folder: string) {
	const [command = "", ...args] = [process.execPath, ...typeScript("packages/xs-mcp/src/xs-mcp-cli.ts", "mcp")];
	const transport = new StdioClientTransport({ command, args, cwd: folder, stderr: "pipe", env: environment() });
	const client = new Client({ name: "test", version: "1.0.0" });
	const errors: string[] = [];
	transport.stderr?.on("data", (bytes) => errors.push(String(bytes)));
	const unexpected: Error[] = [];
	client.onerror = (error) => unexpected.push(error);
	await client.connect(transport);
	t.after(() => client.close());
	const text = async (name: string, input: object = {}): Promise<{ text: string; isError: boolean }> => {
		const params = { name, arguments: input as Record<string, unknown> };
		const { content, isError } = await client.callTool(params, PATIENT);
		return {
			text: content.map((each) => (each.type === "text" ? each.text : "")).join("\n"),
			isError: isError === true,
		};
	};
	const call = async (name: string, input: object = {}) => {
		const result = await text(name, input);
		assert.equal(result.isError, false, result.text);
		try {
			return JSON.parse(result.text);
		} catch {
			return result.text;
		}
	};
	const failing = async (name: string, input: object = {}): Promise<string> => {
		const result = await text(name, input);
		assert.equal(result.isError, true, result.text);
		return result.text;
	};
	return { client, call, failing, errors, unexpected, pid: transport.pid as number };
}

/** The environment of a program outside the test runner, without the SDK. */
function environment(): Record<string, string> {
	const own = Object.entries(process.env).filter(([name]) => !["MODDABLE", "NODE_TEST_CONTEXT"].includes(name));
	return Object.fromEntries(own) as Record<string, string>;
}

/** Whether a process runs. */
function runs(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch {
		return false;
	}
}

/** All descendants of a process. */
function descendants(pid: number): number[] {
	const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
	const all = stdout
		.trim()
		.split("\n")
		.map((line) => line.trim().split(/\s+/).map(Number) as [number, number]);
	const childrenOf = (parent: number): number[] =>
		all.flatMap(([pid, ppid]) => (ppid === parent ? [pid, ...childrenOf(pid)] : []));
	return childrenOf(pid);
}

const posix = { skip: process.platform === "win32" && "needs process groups" };

describe("xs-mcp mcp", () => {
	it("lets an agent build a plant waterer with a relay on 26", async (t) => {
		const folder = templateProject("garden");
		const { client, call, unexpected } = await connect(t, folder);
		assert.match(client.getInstructions() ?? "", /check_project/);

		const { parts } = (await call("list_parts")) as { parts: { name: string; options: string[]; tool?: string }[] };
		const relay = parts.find(({ name }) => name === "relay");
		assert.equal(relay?.tool, "self.switch.set");
		assert.ok(relay?.options.includes("maxOn"));
		for (const { name } of parts) {
			assert.match(await call("list_parts", { part: name }), new RegExp(`^${name}\\(.*\\): Part<"\\w+">$`, "m"));
		}
		const declared = await call("list_parts", { part: "relay" });
		assert.match(declared, /Longest time on in seconds.*maxOn\?: number;.*title\?: string;\n\}$/s);
		assert.match(await call("list_parts", { part: "sensor" }), /^embedded:sensor\/Humidity-Temperature\/SHT3x$/m);

		const board = await call("list_boards");
		assert.deepEqual([board.board, board.chip, board.used], ["esp32", "esp32", { pump: [4] }]);
		assert.ok(board.free.output.includes(26) && !board.free.output.includes(34) && !board.free.output.includes(4));
		assert.ok(!board.free.output.includes(12) && board.avoid.some((text: string) => text.startsWith("pin 12 decides")));
		assert.ok(board.free.analog.includes(34) && !board.free.analog.includes(26));
		assert.ok(board.boards.includes("esp32/m5stack_cores3"));

		const wrong = DEVICE.replace("maxOn", "maxon").replace("pin: 34", "pin: 26");
		const first = await call("write_project_file", { path: "device.ts", text: wrong, overwrite: true });
		assert.equal(first.done, "replaced device.ts");
		assert.equal(first.ok, false);
		assert.match(first.problems, /^device\.ts:7:\d+: .*'maxon'.*'maxOn'/m);
		assert.match(first.problems, /part pump: unknown option maxon, expected .*maxOn/);
		const second = await call("write_project_file", {
			path: "device.ts",
			text: DEVICE.replace("pin: 34", "pin: 26"),
			overwrite: true,
		});
		assert.match(second.problems, /part soil: pin 26 .*these would do: .*35/);
		writeFileSync(join(folder, "device.ts"), DEVICE);
		assert.deepEqual(await call("check_project"), { ok: true, problems: "", warnings: [] });

		const tool = await call("write_project_file", { path: "tools/water-if-dry.ts", text: TOOL });
		assert.equal(tool.done, "wrote tools/water-if-dry.ts; added tools/water-if-dry to preload in manifest.json");
		assert.equal(tool.ok, true, tool.problems);
		const { preload } = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
		assert.ok(preload.includes("tools/water-if-dry"));
		await call("write_project_file", { path: "test/device.test.js", text: TEST, overwrite: true });
		let tests = await call("run_tests");
		while (tests.state === "runs") {
			tests = await call("job");
		}
		assert.equal(tests.state, "passed", tests.output);
		assert.match(tests.output, /pass 1\b/);

		const started = await call("start_device");
		assert.ok(started.tools.includes("self.garden.water_if_dry"));
		assert.match(await (await fetch(started.page)).text(), /<!doctype html>/i);
		const { tools } = (await call("list_device_tools")) as { tools: { name: string }[] };
		assert.ok(tools.some(({ name }) => name === "self.switch.set"));
		await call("simulate", { action: "set", value: { soil: 2900 } });
		assert.deepEqual(await call("call_device_tool", { name: "self.garden.water_if_dry" }), {
			moisture: 0,
			waters: true,
		});
		const { pins } = (await call("read_device")) as { pins: { part: string; value: number }[] };
		assert.equal(pins.find(({ part }) => part === "pump")?.value, 1);
		assert.match(await call("read_log"), /^pump is on$/m);
		assert.equal(await call("stop_device"), "stopped");
		assert.match(await call("read_log"), /^pump is on$/m);
		assert.deepEqual(unexpected, []);
	});

	it("has the tools that docs/agent.md lists", async (t) => {
		const { client } = await connect(t, templateProject("pond"));
		const { tools } = await client.listTools();
		expectSection("docs/agent.md", "tools", [tools.map(({ name }) => `\`${name}\``).join(", ")]);
	});

	it("survives what a project prints and throws", async (t) => {
		const folder = templateProject("pond");
		const noise = 'console.log("printed");\nprocess.stdout.write("raw\\n");\nPromise.reject(new Error("left"));\n';
		writeFileSync(join(folder, "device.ts"), `${noise}${DEVICE}`);
		const { call, errors, unexpected } = await connect(t, folder);
		await call("list_boards");
		await until(() => /printed\nraw\n.*Error: left/s.test(errors.join("")), "all is in the standard error");
		await call("list_parts");
		assert.deepEqual(unexpected, []);
	});

	it("writes no file outside the project, and replaces none without being asked", async (t) => {
		const folder = templateProject("pond");
		const outside = temporaryFolder();
		symlinkSync(outside, join(folder, "link"));
		symlinkSync(join(outside, "linked.ts"), join(folder, "tools", "linked.ts"));
		const { failing } = await connect(t, folder);
		const paths = ["../x.ts", join(outside, "x.ts"), "tools/../../x.ts", ".mcp.json", "node_modules/x.ts", "link/x.ts"];
		for (const path of [...paths, "tools/linked.ts", "x.sh", ".", "tools", "x\0.ts"]) {
			await failing("write_project_file", { path, text: "" });
		}
		assert.deepEqual(readdirSync(outside), []);
		assert.match(
			await failing("write_project_file", { path: "device.ts", text: "" }),
			/device\.ts exists: .*overwrite/,
		);
		assert.match(
			await failing("write_project_file", { path: "x.ts", text: "x".repeat(100_001) }),
			/at most 100000 characters/,
		);
	});

	it("names the values that an argument takes", async (t) => {
		const { failing } = await connect(t, templateProject("pond"));
		assert.match(await failing("list_parts", { part: "rellay" }), /no function rellay; expected analog, button, /);
		assert.match(await failing("list_parts", { prat: "relay" }), /Unrecognized key: \\?"prat/);
		assert.match(await failing("simulate", { action: "shake" }), /press/);
		assert.match(await failing("build", { target: "--help" }), /target/);
		for (const name of ["read_device", "list_device_tools", "simulate", "call_device_tool"]) {
			const input = { simulate: { action: "restart" }, call_device_tool: { name: "self.greet" } }[name];
			assert.match(await failing(name, input), /no device runs\. start_device starts one/);
		}
		assert.match(await failing("job"), /no job: run_tests, build and flash start one/);
	});

	it("says why a device does not start, and starts it when that is cured", async (t) => {
		const folder = templateProject("pond");
		const { call, failing } = await connect(t, folder);
		const tool = join(folder, "tools", "broken.ts");
		writeFileSync(tool, "export default 1;\n");
		assert.match(await failing("start_device"), /tools\/broken.*expected "export default defineTool/);
		writeFileSync(tool, "const x: = 1;\n");
		assert.match(await failing("start_device"), /tools\/broken\.ts:1:\d+: /);
		assert.match((await call("check_project")).problems, /^tools\/broken\.ts:1:\d+: /m);
		writeFileSync(tool, toolThat("self.broken", "return true;"));
		const manifest = join(folder, "manifest.json");
		const settings = readFileSync(manifest, "utf8");
		writeFileSync(manifest, settings.replace('"en"', '"xx"'));
		assert.match(await failing("start_device"), /^manifest\.json: config: language: expected/);
		writeFileSync(manifest, settings);
		assert.ok((await call("start_device")).tools.includes("self.broken"));
	});

	it("reports a tool that fails, and one that ends the device", async (t) => {
		const folder = templateProject("pond");
		writeFileSync(join(folder, "tools", "fail.ts"), toolThat("self.fail", 'throw new Error("no water");'));
		writeFileSync(
			join(folder, "tools", "crash.ts"),
			toolThat("self.crash", "const f = (): number => f() + 1; return f();"),
		);
		const { call, failing } = await connect(t, folder);
		await call("start_device");
		assert.match(await failing("call_device_tool", { name: "self.fail" }), /no water/);
		assert.match(await failing("call_device_tool", { name: "self.none" }), /self\.none/);
		assert.match(await failing("simulate", { action: "set", value: { soil: 1 } }), /soil: the device has no inputs/);
		assert.match(
			await failing("call_device_tool", { name: "self.crash" }),
			/self\.crash: the device ended: stack-overflow: /,
		);
		assert.match(await call("read_log"), /^the device ended: stack-overflow/m);
		assert.match(await failing("read_device"), /no device runs: it was stopped, or has ended.* start_device/);
		await call("start_device");
		assert.equal(
			await call("call_device_tool", { name: "self.greet", arguments: { name: "Ada" } }),
			"Hello Ada, from the device",
		);
	});

	it("runs one job at a time, and stops it when asked", async (t) => {
		const folder = templateProject("pond");
		writeFileSync(join(folder, "test", "device.test.js"), HANGING_TEST);
		const { call, failing } = await connect(t, folder);
		assert.match((await call("run_tests", { file: "test/none.test.js" })).output, /Could not find/);
		const running = call("run_tests");
		await until(() => existsSync(join(folder, "pid")), "the test runs");
		assert.match(await failing("build"), /xs-mcp test still runs: wait for it with job/);
		assert.equal((await call("job", { stop: true })).state, "stopped");
		assert.equal((await running).state, "stopped");
		assert.match((await call("build", { link: true })).output, /MODDABLE is not set/);
	});

	for (const [how, end] of [
		["its input is closed", ({ client }) => client.close()],
		["it is killed", ({ pid }) => process.kill(pid, "SIGKILL")],
	] as const satisfies [string, (server: Awaited<ReturnType<typeof connect>>) => unknown][]) {
		it(`leaves no process when ${how}`, posix, async (t) => {
			const folder = templateProject("pond");
			writeFileSync(join(folder, "test", "device.test.js"), HANGING_TEST);
			const server = await connect(t, folder);
			await server.call("start_device");
			server.call("run_tests").catch(() => {});
			await until(() => existsSync(join(folder, "pid")), "the test runs");
			const pids = [server.pid, ...descendants(server.pid)];
			assert.ok(pids.includes(Number(readFileSync(join(folder, "pid"), "utf8"))));
			await end(server);
			await until(() => !pids.some(runs), `no process of ${pids} runs`);
		});
	}

	it("kills no process when a job could not be started", async (t) => {
		const kill = t.mock.method(process, "kill", () => true);
		const node = process.execPath;
		process.execPath = join(temporaryFolder(), "none");
		const jobs = new JobRunner();
		const ended = jobs.run(["test"], 60);
		process.execPath = node;
		jobs.stop();
		kill.mock.restore();
		assert.equal(kill.mock.callCount(), 0);
		assert.equal((await ended).state, "stopped");
	});

	it("ends with an error where the folder has no project", () => {
		const args = typeScript("packages/xs-mcp/src/xs-mcp-cli.ts", "mcp");
		const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: temporaryFolder(), encoding: "utf8" });
		assert.deepEqual([status, stdout], [1, ""]);
		assert.match(stderr, /has no manifest\.json: run this in a project's folder/);
	});
});
