import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { nodeServer, ODD_SERVER } from "xs-mcp-manager/testing/upstreams";
import { cases } from "../../../host-test/support/scope.js";
import { freePort, testWith, until } from "../../../host-test/support/testing.js";
import { ask, FREE_PORTS, PROGRAM, run, start, startClient, startListening } from "../testing/command-line.js";
import { ERAS, LAMP, SET_VOLUME, toolNames, VOLUME, WireDevice } from "../testing/gateway.js";
import {
	makeFirmwareFolder,
	makeServersFile,
	makeStateFolder,
	startProgram,
	startProgramWithDevice,
} from "../testing/program.js";

const itProgram = testWith(startProgram);

describe("xs-mcp-gateway, the program", () => {
	it("does not listen beyond loopback without tokens, says what to do, and exits with 2", async (t) => {
		const { code, stdout, stderr } = await run(t, [...FREE_PORTS, "--http-address", "0.0.0.0"], {
			XS_MCP_GATEWAY_STATE_FOLDER: makeStateFolder(),
		});
		assert.equal(code, 2);
		assert.equal(stdout, "");
		assert.match(stderr, /^xs-mcp-gateway: httpAddress 0\.0\.0\.0: .*xs-mcp-gateway token add NAME --for client/);
	});

	it("exits with 2 if the command line is wrong", async (t) => {
		for (const [args, message] of [
			[["serv"], /unknown command serv: did you mean serve\?\n$/],
			[["tokne", "list"], /unknown command tokne: did you mean token\?\n$/],
			[["elephant"], /unknown command elephant: expected one of serve, .*, token, /],
			[
				["--state-folder", "x", "token", "list"],
				/^xs-mcp-gateway: expected the command before its options: xs-mcp-gateway token …\n$/,
			],
			[
				["--port", "8766"],
				/unknown option '--port'\n\(Did you mean --http-port, --websocket-port, --mqtt-port, or --udp-port\?\)\nSee .* --help\n$/,
			],
			[["--http-prot", "8766"], /unknown option '--http-prot'\n\(Did you mean --http-port\?\)\nSee .* --help\n$/],
			[["token", "list", "--port", "1"], /unknown option '--port'\nSee xs-mcp-gateway token list --help\n$/],
			[["--http-port", "x"], /--http-port: expected a whole number/],
			[["--no-such-flag"], /unknown option '--no-such-flag'\nSee xs-mcp-gateway serve --help\n$/],
			[["token", "ad"], /unknown command 'ad'\n\(Did you mean add\?\)\nSee xs-mcp-gateway token --help\n$/],
			[["token", "add", "x", "--for", "friend"], /--for <kind>.* Allowed choices are client, device/],
			[["devices", "--url", "nowhere"], /--url: expected a URL/],
			[
				["devices", "--url", "http://me:hunter2@127.0.0.1:1"],
				/^xs-mcp-gateway: --url: expected a URL .*, without user name and password/,
			],
		] as const) {
			const { code, stderr } = await run(t, args);
			assert.match(stderr, message);
			assert.doesNotMatch(stderr, /\n {4}at |hunter2/, "neither a stack nor a password");
			assert.equal(code, 2, args.join(" "));
		}
	});

	it("ends without a stack if nobody reads its output", async (t) => {
		for (const args of [["--help"], ["serve", "--help"], ["config"]]) {
			const { child, output, exited } = start(t, args);
			child.stdout?.destroy();
			assert.equal(await exited, 0, args.join(" "));
			assert.equal(output.stderr, "");
		}
	});

	it("says plainly when no gateway runs", async (t) => {
		const { code, stderr } = await run(t, ["devices", "--url", "http://127.0.0.1:1"]);
		assert.match(stderr, /cannot reach a gateway at http:\/\/127\.0\.0\.1:1 \(.*\)\. Start one with xs-mcp-gateway/);
		assert.equal(code, 1);
	});

	it("with --stdio: ends if nobody reads its output", async (t) => {
		const environment = { XS_MCP_GATEWAY_STATE_FOLDER: makeStateFolder() };
		const { child, output, exited } = await startListening(t, [...FREE_PORTS, "--stdio"], environment);
		child.stdout?.destroy();
		child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`);
		assert.equal(await exited, 0);
		assert.match(output.stderr, /stopping: the client disconnected/);
	});

	it("goes on if nobody reads its log, and says later how many lines it dropped", async (t) => {
		const port = await freePort();
		const websocketPort = await freePort();
		const args = ["--http-port", String(port), "--websocket-port", String(websocketPort), "--log-level", "debug"];
		const child = spawn(process.execPath, [PROGRAM, ...args, "--state-folder", makeStateFolder()]);
		t.after(() => child.kill("SIGKILL"));
		const isUp = (): Promise<boolean> =>
			fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(60_000) }).then(
				({ ok }) => ok,
				() => false,
			);
		await until(isUp, "it listens");
		const device = await WireDevice.connectTo(t, `ws://127.0.0.1:${websocketPort}/`, { id: LAMP });
		const devices = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/devices`)).text();
		await until(async () => (await devices()).includes(LAMP), "the device is known");
		// More than 1,000 messages in a second would end the device's session.
		for (let count = 0; count < 900; count += 1) {
			device.notify("notifications/state_changed", { newState: "x".repeat(5_000) });
		}
		// Nothing tells when it has read and logged all of them.
		await delay(2_000);
		await until(isUp, "it still answers");
		let log = "";
		child.stderr.on("data", (chunk) => {
			log += chunk;
		});
		await until(() => /"dropped":[0-9]+,"msg":"log lines dropped/.test(log), "it says so");
	});

	it("lists and calls the tools of devices", async (t) => {
		const { started, device } = await startProgramWithDevice(t, { id: LAMP });
		const command = ask(started);
		const devices = await command(t, "devices");
		assert.match(
			devices.stdout,
			/^ALIAS .*\nlamp_000001 {2}aa:bb:cc:00:00:01 {2}lamp 1\.0\.0 {2}2 +online by websocket/,
		);
		const tools = await command(t, "tools", "lamp_000001");
		assert.match(tools.stdout, /^self_audio_speaker_set_volume volume=0\.\.100\n {4}Set the volume\.\n/);
		assert.match(tools.stdout, /User-only tools, which need a token created with --allow-user-tools: self\.reboot\n$/);
		const reboot = await command(t, "call", LAMP, "self.reboot");
		assert.match(reboot.stderr, /self\.reboot: this tool is user-only/);
		assert.equal(reboot.code, 2);
		const call = await command(t, "call", LAMP, SET_VOLUME.name, "volume=30");
		assert.deepEqual([call.code, call.stdout], [0, "true\n"]);
		assert.deepEqual(device.calls[0]?.arguments, { volume: 30 });
		const portable = await command(t, "call", LAMP.toUpperCase(), "self_audio_speaker_set_volume", "volume=31");
		assert.deepEqual([portable.code, device.calls[1]?.name], [0, SET_VOLUME.name]);
	});

	it("takes the URL of an MCP client, and a token with a line break; an empty URL counts as absent", async (t) => {
		const { started } = await startProgramWithDevice(t, { id: LAMP });
		const token = await started.tokens.add({ name: "laptop", kind: "client" });
		for (const path of ["/", "/mcp", "/mcp/", "/mcp?catalog=full"]) {
			const environment = { XS_MCP_GATEWAY_URL: `${started.base}${path}\r\n`, XS_MCP_GATEWAY_TOKEN: `${token}\r\n` };
			const { stdout, stderr } = await run(t, ["devices"], environment);
			assert.match(stdout, /lamp_000001/, `${path}: ${stderr}`);
		}
		const { stderr } = await run(t, ["devices"], { XS_MCP_GATEWAY_URL: "" });
		assert.doesNotMatch(stderr, /expected a URL/);
	});

	it("renames a device, and forgets devices that have been offline for some time", async (t) => {
		const { started, device } = await startProgramWithDevice(t, { id: LAMP });
		const command = ask(started);
		const renamed = await command(t, "rename", "lamp_000001", "kitchen");
		assert.deepEqual([renamed.code, renamed.stdout], [0, "lamp_000001 is now kitchen.\n"]);
		await device.unplug();
		const recent = await command(t, "forget", "--offline-since", "1d");
		assert.deepEqual([recent.code, recent.stdout], [0, "No device has been offline for that long.\n"]);
		const forgotten = await command(t, "forget", "--offline-since", "0s");
		assert.deepEqual([forgotten.code, forgotten.stdout], [0, "kitchen forgotten.\n"]);
		for (const [args, message] of [
			[["forget"], /expected a device or --offline-since/],
			[["forget", "kitchen", "--offline-since", "1d"], /expected a device or --offline-since/],
			[["forget", "--offline-since", "soon"], /--offline-since.*Expected a time like 30m, 12h or 1d/],
		] as const) {
			const { code, stderr } = await command(t, ...args);
			assert.match(stderr, message);
			assert.equal(code, 2);
		}
	});

	it("tags devices, and keeps the tags", async (t) => {
		const { started } = await startProgramWithDevice(t, { id: LAMP });
		const command = ask(started);
		const tagged = await command(t, "devices", "tag", "lamp_000001", "upstairs", "lights");
		assert.deepEqual([tagged.code, tagged.stdout], [0, "lamp_000001 is tagged lights, upstairs.\n"]);
		assert.match((await command(t, "devices")).stdout, / TAGS\n.* lights upstairs\n$/);
		const invalid = await command(t, "devices", "tag", "lamp_000001", "all");
		assert.match(invalid.stderr, /tag all: reserved for every device/);
		const fewer = await command(t, "devices", "untag", LAMP, "lights");
		assert.equal(fewer.stdout, "lamp_000001 is tagged upstairs.\n");
		const none = await command(t, "devices", "untag", LAMP, "upstairs");
		assert.equal(none.stdout, "lamp_000001 has no tags.\n");
	});

	itProgram("saves the pictures, sound and files of a result, and says where", async (started, t) => {
		const data = (text: string) => Buffer.from(text).toString("base64");
		const onCall = () => ({
			content: [
				{ type: "text", text: "done" },
				{ type: "image", data: data("picture"), mimeType: "image/png" },
				{ type: "resource", resource: { uri: "x:y", blob: data("file") } },
			],
		});
		const tools = [{ name: "snap", inputSchema: { type: "object" } }];
		await WireDevice.connect(t, started, { id: LAMP, tools, onCall });
		await WireDevice.connect(t, started, { id: "aa:bb:cc:00:00:02", tools });
		const command = ask(started);
		const file = join(makeStateFolder(), "photo.png");
		const { code, stdout } = await command(t, "call", LAMP, "snap", "--save", file);
		const second = file.replace(".png", "-2.png");
		assert.deepEqual([code, stdout], [0, `done\n(image: saved to ${file})\n(resource: saved to ${second})\n`]);
		assert.deepEqual([readFileSync(file, "utf8"), readFileSync(second, "utf8")], ["picture", "file"]);
		const nothing = await command(t, "call", "lamp_000002", "snap", "--save", file);
		assert.deepEqual([nothing.code, nothing.stdout], [1, "true\n"]);
		assert.match(nothing.stderr, /nothing to save: the result of snap has no picture/);
	});

	it("pushes firmware to one device or all, by their user-only tool", async (t) => {
		const firmwareFolder = makeFirmwareFolder({ "lamp_1.1.0.bin": "new" });
		const serversFile = makeServersFile({ odd: nodeServer("odd", ODD_SERVER) });
		const started = await startProgram(t, { firmwareFolder, userTools: ["*"], serversFile });
		const inputSchema = { type: "object", properties: { url: { type: "string" }, version: { type: "string" } } };
		const upgrade = { name: "self.upgrade_firmware", inputSchema, annotations: { audience: ["user"] } };
		const device = await WireDevice.connect(t, started, { id: LAMP, tools: [upgrade] });
		await WireDevice.connect(t, started, { id: "aa:bb:cc:00:00:02", board: "fan", tools: [upgrade] });
		await WireDevice.connect(t, started, { id: "aa:bb:cc:00:00:03", board: "door" });
		const command = ask(started);
		const one = await command(t, "firmware", "push", "lamp_000001");
		assert.deepEqual([one.code, one.stdout.split(".")[0]], [0, "lamp_000001 restarts into 1"]);
		const { url, version, sha256 } = device.calls[0]?.arguments ?? {};
		assert.match(String(url), /\/xiaozhi\/ota\/download\/lamp_1\.1\.0\.bin\?/);
		assert.deepEqual([version, sha256], ["1.1.0", undefined], "only arguments that the device's tool has");
		const all = await command(t, "firmware", "push", "--all");
		assert.match(
			all.stdout,
			/^fan_000002 runs 1\.0\.0: no newer firmware for fan\.\nlamp_000001 restarts into 1\.1\.0\./,
		);
		assert.match(all.stderr, /door_000003: self\.upgrade_firmware: unknown tool[^\n]*\n.*1 of 3 devices failed/s);
		assert.equal(all.code, 1);
		const other = await command(t, "firmware", "push", "lamp_000001", "--version", "2.0.0");
		assert.match(other.stderr, /no firmware 2\.0\.0 for lamp in firmwareFolder/);
		assert.equal((await command(t, "firmware", "push")).code, 2);
		assert.match((await command(t, "--version")).stdout, /^[0-9.]+\n$/);
	});

	itProgram("never prints a device's control characters", async (started, t) => {
		const evil = "\u001b[2J\u009b31m\u202e";
		const tool = { ...SET_VOLUME, name: "blink", description: `${evil}Blink.`, inputSchema: { type: "object" } };
		const device = await WireDevice.connect(t, started, { id: "lamp\u009b31m", board: `lamp${evil}`, tools: [tool] });
		const watch = start(t, ["watch"], { XS_MCP_GATEWAY_URL: started.base });
		await until(() => {
			device.notify("notifications/state_changed", { newState: evil });
			return watch.output.stdout.includes("state_changed");
		}, "the notification is shown");
		const [{ alias = "" } = {}] = JSON.parse((await ask(started)(t, "devices", "--json")).stdout) as {
			alias?: string;
		}[];
		const command = ask(started);
		const outputs = [watch.output, await command(t, "devices"), await command(t, "tools", alias)];
		outputs.push(await command(t, "devices", "--json"), await command(t, "tools", "nothing"));
		for (const { stdout, stderr } of outputs) {
			for (const character of ["\u001b", "\u009b", "\u202e"]) {
				assert.ok(!(stdout + stderr).includes(character), stdout + stderr);
			}
		}
		assert.match(outputs[2]?.stdout ?? "", /\\u001b\[2J\\u009b31m\\u202eBlink\./);
	});

	itProgram("names a wrong argument and exits with 2; exits with 1 if the tool fails", async (started, t) => {
		const failure = { content: [{ type: "text", text: "no speaker" }], isError: true };
		const device = await WireDevice.connect(t, started, { id: LAMP, onCall: () => failure });
		const call = (...args: string[]) => ask(started)(t, "call", "lamp_000001", ...args);
		const { code, stderr } = await call(SET_VOLUME.name, "volume=loud");
		assert.match(stderr, /volume: expected a whole number, got "loud"/);
		assert.equal(code, 2);
		assert.equal(device.calls.length, 0);
		const failed = await call(SET_VOLUME.name, "volume=3");
		assert.deepEqual([failed.code, failed.stdout], [1, "no speaker\n"]);
	});

	itProgram("makes tokens that a running gateway accepts at once", async (started, t) => {
		const environment = { XS_MCP_GATEWAY_STATE_FOLDER: started.stateFolder, XS_MCP_GATEWAY_URL: started.base };
		const made = await run(t, ["token", "add", "laptop", "--for", "client"], environment);
		const token = made.stdout.trim();
		assert.match(token, /^xsmcp_/);
		assert.match(made.stderr, /first token for a client/);
		const without = await run(t, ["devices"], environment);
		assert.match(without.stderr, /requires a token/);
		assert.equal(without.code, 1);
		assert.equal((await run(t, ["devices"], { ...environment, XS_MCP_GATEWAY_TOKEN: token })).code, 0);
		const list = await run(t, ["token", "list"], environment);
		assert.match(list.stdout, /^NAME .*\nlaptop {2}client {2}.* {2}all devices {2}last used .*\n$/);
		const removed = await run(t, ["token", "remove", "laptop"], environment);
		assert.equal(removed.code, 0);
		assert.match(removed.stderr, /last token for a client.*--open/s);
		assert.equal((await run(t, ["token", "remove", "laptop"], environment)).code, 1);
	});

	it("makes tokens of operators, and tokens that expire, for clients alone", async (t) => {
		const environment = { XS_MCP_GATEWAY_STATE_FOLDER: makeStateFolder() };
		const add = ["token", "add", "me", "--operator", "--days", "30"];
		assert.equal((await run(t, [...add, "--for", "client"], environment)).code, 0);
		assert.match((await run(t, ["token", "list"], environment)).stdout, /^me .* {2}operator, until [0-9-]{10}T/m);
		assert.equal((await run(t, [...add, "--for", "device", "--yes"], environment)).code, 2);
		const one = await run(t, [...add, "--for", "client", "--device", LAMP], environment);
		assert.match(one.stderr, /--operator cannot be combined with --device/);
	});

	it("makes tokens for devices by id or alias", async (t) => {
		const { started } = await startProgramWithDevice(t, { id: LAMP });
		await started.gateway.servers.edit(LAMP, { alias: "kitchen" });
		const environment = { XS_MCP_GATEWAY_STATE_FOLDER: started.stateFolder };
		const devices = ["kitchen", "02:00:00:00:00:99"].flatMap((each) => ["--device", each]);
		assert.equal((await run(t, ["token", "add", "kiosk", "--for", "client", ...devices], environment)).code, 0);
		started.tokens.refresh();
		assert.deepEqual(started.tokens.records[0]?.devices, [LAMP, "02:00:00:00:00:99"]);
	});

	it("makes tokens that may listen with microphones, for clients that do not only read", async (t) => {
		const environment = { XS_MCP_GATEWAY_STATE_FOLDER: makeStateFolder() };
		const add = ["token", "add", "agent", "--allow-microphone", "--for"];
		assert.equal((await run(t, [...add, "client"], environment)).code, 0);
		assert.match((await run(t, ["token", "list"], environment)).stdout, /^agent .* {2}microphone\n$/m);
		assert.equal((await run(t, [...add, "device", "--yes"], environment)).code, 2);
		const one = await run(t, [...add, "client", "--read-only"], environment);
		assert.match(one.stderr, /--allow-microphone cannot be combined with --read-only/);
	});

	it("asks before the first token for devices, because devices without one are disconnected", async (t) => {
		const environment = { XS_MCP_GATEWAY_STATE_FOLDER: makeStateFolder() };
		const add = ["token", "add", "lamp", "--for", "device"];
		const unasked = await run(t, add, environment);
		assert.equal(unasked.code, 2);
		assert.match(unasked.stderr, /first token for a device.*disconnected.*--yes/s);
		assert.equal((await run(t, ["token", "list"], environment)).stdout, "No tokens yet.\n");
		assert.equal((await run(t, [...add, "--yes"], environment)).code, 0);
		assert.equal((await run(t, ["token", "add", "fan", "--for", "device"], environment)).code, 0, "the second");
	});

	itProgram("shows events until nobody reads them any more", async (started, t) => {
		const watch = start(t, ["watch"], { XS_MCP_GATEWAY_URL: started.base });
		const device = await WireDevice.connect(t, started, { id: LAMP });
		await until(() => {
			device.notify("notifications/state_changed", { newState: "speaking" });
			return watch.output.stdout.includes("speaking");
		}, "the notification is shown");
		assert.match(watch.output.stdout, /lamp_000001 {2}notification {2}notifications\/state_changed/);
		watch.child.stdout?.destroy();
		await until(() => {
			device.notify("notifications/state_changed", { newState: "idle" });
			return watch.child.exitCode !== null;
		}, "it ends with its reader");
		assert.equal(await watch.exited, 0);
	});

	it("prints its settings without secrets", async (t) => {
		const { stdout } = await run(t, ["config", "--broker-url", "mqtt://b"], {
			XS_MCP_GATEWAY_BROKER_PASSWORD: "hunter2",
		});
		const settings = JSON.parse(stdout);
		assert.deepEqual([settings.brokerUrl, settings.brokerPassword], ["mqtt://b", "***"]);
	});
});

const CATALOG_TOOLS = ["servers_list", "tools_search", "tool_describe", "tool_read", "tool_call"];

describe("the catalog on the command line", () => {
	for (const [revision, era] of cases(Object.entries(ERAS))) {
		it(`a bridge of ${revision} gets the one that its options name, and calls a tool`, async (t) => {
			const started = await startProgram(t);
			const picture = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" };
			await WireDevice.connect(t, started, { onCall: () => ({ content: [picture] }) });
			const args = ["stdio", "--catalog", "search", "--pinned-tools", "lamp_000001__self_audio*"];
			const { client } = await startClient(t, args, { XS_MCP_GATEWAY_URL: started.base }, era);
			assert.deepEqual(await toolNames(client), [...CATALOG_TOOLS, VOLUME]);
			const params = { name: "tool_call", arguments: { name: VOLUME, arguments: { volume: 1 } } };
			assert.deepEqual((await client.callTool(params)).content, [picture]);
		});
	}

	itProgram("a bridge ends with an error if the gateway does not take its options", async ({ base }, t) => {
		const { child, exited, output } = start(t, ["stdio", "--catalog-limit", "many"], { XS_MCP_GATEWAY_URL: base });
		const refusal = "catalogLimit: expected a whole number";
		await until(() => output.stderr.includes(refusal), refusal);
		child.stdin?.end();
		assert.notEqual(await exited, 0);
	});

	it("the commands tools and call work on every tool, whatever the setting catalog says", async (t) => {
		const { started } = await startProgramWithDevice(t, { id: LAMP }, { catalog: "search" });
		const { stdout } = await ask(started)(t, "tools", "lamp_000001");
		assert.match(stdout, /^self_audio_speaker_set_volume/);
		const called = await ask(started)(t, "call", "lamp_000001", "self.audio_speaker.set_volume", "volume=3");
		assert.equal(called.code, 0, called.stderr);
	});
});

it("xs-mcp-gateway types writes the declarations of a configured server, and of a device", async (t) => {
	const started = await startProgram(t, { serversFile: makeServersFile({ odd: nodeServer("odd", ODD_SERVER) }) });
	await until(() => started.gateway.servers.find("odd") !== undefined, "the server is known");
	const { code, stdout } = await ask(started)(t, "types", "odd");
	assert.equal(code, 0);
	assert.match(stdout, /^export interface Odd \{$/m);
	assert.match(stdout, /^\techo\(params\?: EchoParams\): Promise<string>;$/m);
	await WireDevice.connect(t, started);
	const device = await ask(started)(t, "types", "lamp_000001");
	assert.match(
		device.stdout,
		/^\tselfAudioSpeakerSetVolume\(params: SelfAudioSpeakerSetVolumeParams\): Promise<string>;$/m,
	);
});
