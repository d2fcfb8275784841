import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, it } from "node:test";
import { listen, temporaryFolder, until } from "../host-test/support/testing.js";
import { ENGINES } from "./fixtures.js";
import { runVirtualDevice, startVirtualDevice } from "./gateway-process.js";

const NOWHERE = "ws://127.0.0.1:1/";

async function saidAtStart(pattern: RegExp, ...args: string[]): Promise<string> {
	const program = await startVirtualDevice(NOWHERE, "--engine", "v8", ...args);
	await until(() => pattern.test(program.output), String(pattern));
	await program.stop();
	return program.said(pattern);
}

describe("a virtual device as a program", () => {
	const macAddress = (...args: string[]): Promise<string> => saidAtStart(/^device (\S+) on /m, ...args);

	it("has the same MAC address at every start, another one by another name, and a random one on request", async () => {
		const mac = await macAddress();
		assert.match(mac, /^02(:[0-9a-f]{2}){5}$/);
		assert.equal(await macAddress(), mac);
		const lamp = await macAddress("--name", "lamp");
		const addresses = new Set([mac, lamp, await macAddress("--new"), await macAddress("--new")]);
		assert.equal(addresses.size, 4);
		assert.equal(await macAddress("--mac", "02:00:00:00:00:07"), "02:00:00:00:00:07");
	});
});

describe("npm run device -- --count, --board", () => {
	it("runs devices whose MAC addresses count up", async () => {
		const args = ["--engine", "v8", "--mac", "02:00:00:00:00:fe", "--count", "3"];
		const program = await startVirtualDevice(NOWHERE, ...args);
		const addresses = (): string[] =>
			[...program.output.matchAll(/^device (\S+) on /gm)].map(([, mac]) => mac as string);
		await until(() => addresses().length === 3, "all have started");
		await program.stop();
		assert.deepEqual(addresses(), ["02:00:00:00:00:fe", "02:00:00:00:00:ff", "02:00:00:00:01:00"]);
	});

	it("has the buttons of the board that it stands for, and knows the boards' names", async (t) => {
		const program = await startVirtualDevice(NOWHERE, "--engine", "v8", "--board", "esp32/m5stick_cplus", "--prompt");
		t.after(() => program.stop());
		program.write("press\n");
		await until(() => program.output.includes("button a: press"), "its main button is pressed");
		const { code, output } = await runVirtualDevice("--url", NOWHERE, "--board", "m5dail");
		assert.equal(code, 2);
		assert.match(output, /Did you mean m5dial\?/);
		assert.match((await runVirtualDevice("--board", "toaster")).output, /Unknown board: --help lists the boards\./);
		assert.match((await runVirtualDevice("--help")).output, /choices:\s+"virtual",[^)]*"m5dial"/);
	});
});

it("a virtual device's UUID is shown, and is the one that is set", async () => {
	const uuidOf = (...args: string[]): Promise<string> => saidAtStart(/^UUID (\S+)$/m, ...args);
	assert.match(await uuidOf(), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
	const uuid = "123e4567-e89b-42d3-a456-426614174000";
	assert.equal(await uuidOf("--uuid", uuid), uuid);
});

const xs = ENGINES.find(({ kind }) => kind === "xs");

describe("a virtual device that fails", { skip: xs === undefined }, () => {
	for (const [args, code, said] of [
		[["--url", NOWHERE, "--slots", "500"], 1, /the engine exited: out-of-memory/],
		[["--url", "foo://x"], 1, /fatal error: backend/],
		[["--url", "http://127.0.0.1:1/"], 1, /backend: this device does not support http:\/\//],
		[["--url", NOWHERE, "--set", "tokn=x"], 2, /Unknown setting tokn/],
		[["--url", NOWHERE, "--firmware", "no/such/main.ts"], 1, /^error: --firmware: .*no\/such\/main\.ts/m],
		[[], 2, /required option '--url <url>'/],
	] as const) {
		it(`ends with the code ${code} and a reason: ${args.join(" ") || "without a backend"}`, async () => {
			const ended = await runVirtualDevice(...args);
			assert.equal(ended.code, code);
			assert.match(ended.output, said);
			assert.doesNotMatch(ended.output, /on none|^UUID|^ {4}at /m);
		});
	}

	it("ends with a code and a reason when the port to serve at is taken", async (t) => {
		const taken = createServer();
		const port = await listen(t, taken);
		const { code, output } = await runVirtualDevice("--http", String(port));
		assert.equal(code, 1);
		assert.match(output, /error: cannot serve HTTP: .*EADDRINUSE/);
	});

	it("reports a rejected or missing token", async (t) => {
		const backend = createServer((_request, response) => response.writeHead(401).end());
		backend.on("upgrade", (_request, socket) => socket.end("HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n"));
		const url = `ws://127.0.0.1:${await listen(t, backend)}/`;
		for (const [args, expected] of [
			[[], /the backend requires a token \(401\)/],
			[["--token", "x"], /token rejected \(401\)/],
		] as const) {
			const program = await startVirtualDevice(url, "--engine", "v8", ...args);
			await until(() => expected.test(program.output), String(expected));
			await program.stop();
		}
	});

	it("names the settings file that it cannot read, without a stack", async () => {
		const file = join(temporaryFolder(), "settings.json");
		writeFileSync(file, "[]");
		const { code, output } = await runVirtualDevice("--url", NOWHERE, "--settings", file);
		assert.equal(code, 1);
		assert.match(output, /^error: --settings: .*settings\.json: expected a JSON object/m);
		assert.doesNotMatch(output, /\n {4}at /);
	});
});
