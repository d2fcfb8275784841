import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import type { Gateway, GatewayOptions, Session } from "../../gateway/src/index.js";
import { nextOnline, nextSession } from "../../gateway/test/support/gateway.js";
import { cases } from "../support/scope.js";
import { ALL_TOOLS, COMMON_TOOLS } from "../support/tool-counts.js";
import { until } from "../support/until.js";
import { ENGINES, type GatewaySide, RawBackend, startDevice, TRANSPORTS } from "./fixtures.js";
import { startVirtualDevice } from "./gateway-process.js";
import { typeScript } from "./program.js";

// Firmware, virtual device and gateway together, over real sockets.

/** A web service that keeps what it is sent. */
async function webService(t: TestContext, answer: string | Buffer) {
	const requests: { headers: IncomingMessage["headers"]; body: Buffer }[] = [];
	const server = createServer(async (request, response) => {
		const chunks: Buffer[] = [];
		for await (const chunk of request) {
			chunks.push(chunk as Buffer);
		}
		requests.push({ headers: request.headers, body: Buffer.concat(chunks) });
		response.end(answer);
	}).listen(0, "127.0.0.1");
	await once(server, "listening");
	t.after(() => server.close());
	return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/explain`, requests };
}

const text = (result: object): unknown => (result as { content: { text?: unknown }[] }).content[0]?.text;

const listen = TRANSPORTS.websocket as (t: TestContext) => Promise<GatewaySide>;

for (const [engine, transport] of cases(
	ENGINES.flatMap((each) => Object.keys(TRANSPORTS).map((name) => [each, name] as const)),
)) {
	describe(`a virtual device and the gateway over ${transport}, firmware on ${engine.kind}`, () => {
		const open = TRANSPORTS[transport] as NonNullable<(typeof TRANSPORTS)[string]>;
		const connect = async (
			t: TestContext,
			options?: GatewayOptions,
		): Promise<{ device: Session; gateway: Gateway; log: string[] }> => {
			const { gateway, config } = await open(t, options);
			const connected = nextSession(gateway.servers);
			const { log } = await startDevice(t, engine, { config });
			return { device: (await connected).session, gateway, log };
		};

		it("lists and calls tools", async (t) => {
			const { device, gateway } = await connect(t);
			const { board } = await nextOnline(gateway.servers);
			assert.deepEqual([board.name, device.revision], ["virtual", "2025-11-25"]);
			assert.equal((await device.list("tools")).length, COMMON_TOOLS);
			assert.equal((await device.list("tools", { withUserTools: true })).length, ALL_TOOLS);
			assert.equal(text(await device.callTool("self.audio_speaker.set_volume", { volume: 30 })), "true");
			const { structuredContent } = await device.callTool("self.get_device_status");
			assert.deepEqual((structuredContent as { audio_speaker?: unknown }).audio_speaker, { volume: 30 });
		});

		it("tells of changes of state as they happen", async (t) => {
			const { device } = await connect(t);
			const states: unknown[] = [];
			device.on("notification", (_method, params) => states.push(params.newState));
			device.sendMessage({ type: "tts", state: "start" });
			device.sendMessage({ type: "tts", state: "stop" });
			await device.ping();
			assert.deepEqual(states.slice(-2), ["speaking", "idle"]);
		});

		it("takes a photo and has it explained", async (t) => {
			const vision = await webService(t, '{"success":true,"text":"a window"}');
			const { device } = await connect(t, { capabilities: { vision: { url: vision.url, token: "v-token" } } });
			assert.equal(
				text(await device.callTool("self.camera.take_photo", { question: "何が見える?" })),
				'{"success":true,"text":"a window"}',
			);
			const [request] = vision.requests;
			assert.equal(request?.headers.authorization, "Bearer v-token");
			assert.equal(request?.headers["device-id"], device.identity.id);
			assert.ok(request?.body.includes("何が見える?"));
			assert.ok(request?.body.includes(Buffer.from([0xff, 0xd8, 0xff])), "a JPEG file");
		});

		it("uploads its screen and previews a picture", async (t) => {
			const { device } = await connect(t);
			const upload = await webService(t, "");
			assert.equal((await device.callTool("self.screen.snapshot", { url: upload.url })).isError, false);
			const body = upload.requests[0]?.body as Buffer;
			const jpeg = body.subarray(body.indexOf(Buffer.from([0xff, 0xd8, 0xff])));
			const gallery = await webService(t, jpeg);
			assert.equal((await device.callTool("self.screen.preview_image", { url: gallery.url })).isError, false);
			const noPicture = await webService(t, "no picture");
			assert.equal((await device.callTool("self.screen.preview_image", { url: noPicture.url })).isError, true);
			const failed = await device.callTool("self.screen.snapshot", { url: "http://127.0.0.1:1/" });
			assert.equal(failed.isError, true);
		});

		it("restarts when told to, and still has its volume", async (t) => {
			const { device, gateway } = await connect(t);
			await device.callTool("self.audio_speaker.set_volume", { volume: 12 });
			const again = nextSession(gateway.servers);
			assert.equal(text(await device.callTool("self.reboot")), "true");
			const status = await (await again).session.callTool("self.get_device_status");
			assert.equal(JSON.parse(String(text(status))).audio_speaker.volume, 12);
			assert.equal((await again).session.identity.clientId, device.identity.clientId);
		});

		it("is admitted only with the right secret", async (t) => {
			const { gateway, wrongConfig } = await open(t);
			const rejected: string[] = [];
			gateway.servers.on("rejected", (description) => rejected.push(description));
			const { log } = await startDevice(t, engine, { config: wrongConfig });
			const reason = transport === "websocket" ? "token rejected (401)" : "user name or password rejected";
			await until(() => log.some((line) => line.includes(reason)), "the device says why");
			if (transport !== "mosquitto") {
				assert.match(rejected.join(), /unknown token|unknown user name or password/);
			}
			assert.equal(gateway.servers.sessions.length, 0);
			assert.doesNotMatch([...rejected, ...log].join(), /secret/);
		});

		it("fails a call under way with a clear error when the device disconnects", async (t) => {
			const { device } = await connect(t);
			const { url } = await webService(t, "");
			const call = device.callTool("self.screen.snapshot", { url });
			device.close("unplugged");
			await assert.rejects(call, { code: "server-disconnected", message: /unplugged/ });
			await assert.rejects(device.callTool("self.get_device_status"), { code: "server-disconnected" });
		});
	});
}

describe("a virtual device as a program", () => {
	const macAddress = async (...args: string[]): Promise<string> => {
		const program = await startVirtualDevice("ws://127.0.0.1:1/", "--engine", "v8", ...args);
		await program.stop();
		return program.said(/^device (\S+) on /m);
	};

	it("has the same MAC address at every start, another one by another name, and a random one if told to", async () => {
		const mac = await macAddress();
		assert.match(mac, /^02(:[0-9a-f]{2}){5}$/);
		assert.equal(await macAddress(), mac);
		const lamp = await macAddress("--name", "lamp");
		const addresses = new Set([mac, lamp, await macAddress("--new"), await macAddress("--new")]);
		assert.equal(addresses.size, 4);
		assert.equal(await macAddress("--mac", "02:00:00:00:00:07"), "02:00:00:00:00:07");
	});
});

describe("a virtual device's UUID", () => {
	it("is shown, and is the one that is set", async () => {
		const uuidOf = async (...args: string[]): Promise<string> => {
			const isReady = /^UUID (\S+)$/m;
			const program = await startVirtualDevice("ws://127.0.0.1:1/", "--engine", "v8", ...args);
			await until(() => program.output.match(isReady) !== null, "the UUID is shown");
			await program.stop();
			return program.said(isReady);
		};
		assert.match(await uuidOf(), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
		const uuid = "123e4567-e89b-42d3-a456-426614174000";
		assert.equal(await uuidOf("--uuid", uuid), uuid);
	});
});

const xs = ENGINES.find(({ kind }) => kind === "xs");

describe("a virtual device that fails", { skip: xs === undefined }, () => {
	const run = async (...args: string[]): Promise<{ code: number | null; output: string }> => {
		const child = spawn(process.execPath, typeScript("virtual-device/src/cli.ts", ...args), {
			stdio: ["ignore", "pipe", "pipe"],
		});
		let output = "";
		child.stdout.on("data", (chunk) => {
			output += chunk;
		});
		child.stderr.on("data", (chunk) => {
			output += chunk;
		});
		const [code] = (await once(child, "close")) as [number | null];
		return { code, output };
	};

	it("ends with a code and a reason when its heap is too small", async () => {
		const { code, output } = await run("--url", "ws://127.0.0.1:1/", "--slots", "5000");
		assert.equal(code, 1);
		assert.match(output, /out-of-memory/);
	});

	it("ends with a code and a reason when its heap does not hold the engine's own objects", async () => {
		const { code, output } = await run("--url", "ws://127.0.0.1:1/", "--slots", "500");
		assert.equal(code, 1);
		assert.match(output, /the engine ended: out-of-memory/);
	});

	it("ends with a code and a reason when the port to serve at is taken", async (t) => {
		const taken = createServer().listen(0, "127.0.0.1");
		t.after(() => taken.close());
		await once(taken, "listening");
		const { port } = taken.address() as AddressInfo;
		const { code, output } = await run("--http", String(port));
		assert.equal(code, 1);
		assert.match(output, /error: cannot serve HTTP: .*EADDRINUSE/);
	});

	it("says nothing of a device that a wrong setting has ended", async () => {
		const { code, output } = await run("--url", "foo://x");
		assert.equal(code, 1);
		assert.match(output, /fatal error: backend/);
		assert.doesNotMatch(output, /on none|^UUID/m);
	});

	it("has the firmware's limits follow its heap", async (t) => {
		const backend = await RawBackend.listen(t);
		const program = await startVirtualDevice(backend.url, "--chunk-bytes", "400000");
		t.after(() => program.stop());
		assert.equal(((await backend.greet()) as { max_message_bytes?: number }).max_message_bytes, 50_000);
	});

	it("says whether it has a token that is rejected, or none", async (t) => {
		const backend = createServer((_request, response) => response.writeHead(401).end());
		backend.on("upgrade", (_request, socket) => socket.end("HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n"));
		backend.listen(0, "127.0.0.1");
		t.after(() => backend.close());
		await once(backend, "listening");
		const url = `ws://127.0.0.1:${(backend.address() as AddressInfo).port}/`;
		for (const [args, expected] of [
			[[], /the backend requires a token \(401\)/],
			[["--token", "x"], /token rejected \(401\)/],
		] as const) {
			const program = await startVirtualDevice(url, "--engine", "v8", ...args);
			await until(() => expected.test(program.output), String(expected));
			await program.stop();
		}
	});

	it("names the setting it cannot use", async () => {
		const { code, output } = await run("--url", "http://127.0.0.1:1/");
		assert.equal(code, 1);
		assert.match(output, /backend: this device does not support http:\/\//);
	});

	it("explains itself when called without a backend", async () => {
		const { code, output } = await run();
		assert.equal(code, 2);
		assert.match(output, /required option '--url <url>'/);
	});

	it("names the setting that the firmware does not have", async () => {
		const { code, output } = await run("--url", "ws://127.0.0.1:1/", "--set", "tokn=x");
		assert.equal(code, 2);
		assert.match(output, /Unknown setting tokn/);
	});

	it("names the settings file that it cannot read, without a stack", async (t) => {
		const folder = mkdtempSync(join(tmpdir(), "xs-mcp-"));
		t.after(() => rmSync(folder, { recursive: true }));
		writeFileSync(join(folder, "settings.json"), "[]");
		const { code, output } = await run("--url", "ws://127.0.0.1:1/", "--settings", join(folder, "settings.json"));
		assert.equal(code, 1);
		assert.match(output, /^error: --settings: .*settings\.json: expected a JSON object/m);
		assert.doesNotMatch(output, /\n {4}at /);
	});

	it("names the firmware that it cannot bundle, without a stack", async () => {
		const { code, output } = await run("--url", "ws://127.0.0.1:1/", "--firmware", "no/such/main.ts");
		assert.equal(code, 1);
		assert.match(output, /^error: --firmware: .*\n.*no\/such\/main\.ts/m);
		assert.doesNotMatch(output, /\n {4}at /);
	});

	it("is started again by its watchdog", async (t) => {
		const { gateway, config } = await listen(t);
		const connected = nextSession(gateway.servers);
		const { device } = await startDevice(t, xs as (typeof ENGINES)[number], { config, watchdog: true });
		await connected;
		const again = nextSession(gateway.servers);
		const exits: string[] = [];
		device.on("exit", ({ code }) => exits.push(code));
		device.crash();
		assert.equal((await again).server.id, device.macAddress);
		assert.deepEqual(exits, ["exception"]);
	});

	it("keeps its settings in a file", async (t) => {
		const folder = mkdtempSync(join(tmpdir(), "xs-mcp-"));
		t.after(() => rmSync(folder, { recursive: true }));
		const settingsFile = join(folder, "nested", "settings.json");
		const { gateway, config } = await listen(t);
		const connected = nextSession(gateway.servers);
		const { device: first } = await startDevice(t, xs as (typeof ENGINES)[number], { config, settingsFile });
		await (await connected).session.callTool("self.screen.set_theme", { theme: "dark" });
		await until(() => readFileSync(settingsFile, "utf8").includes("dark"), "the file is written");
		first.stop();
		const again = nextSession(gateway.servers);
		await startDevice(t, xs as (typeof ENGINES)[number], { config, settingsFile });
		const status = await (await again).session.callTool("self.get_device_status");
		assert.equal(JSON.parse(String(text(status))).screen.theme, "dark");
	});
});
