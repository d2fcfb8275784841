import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { describe, it, type TestContext } from "node:test";
import type { Connection } from "xs-mcp-gateway";
import { nextOnline, nextSession } from "xs-mcp-gateway/testing/gateway";
import { callTool } from "../host-test/support/call-tool.js";
import { cases } from "../host-test/support/scope.js";
import { listen, PATIENT, temporaryFolder, until } from "../host-test/support/testing.js";
import { ENGINE, ENGINES, type Engine, openOverWebSocket, RawBackend, startDevice, TRANSPORTS } from "./fixtures.js";
import { startVirtualDevice } from "./gateway-process.js";

async function webService(t: TestContext, answer: string | Buffer) {
	const bodies: Buffer[] = [];
	const server = createServer(async (request, response) => {
		bodies.push(await buffer(request));
		response.end(answer);
	});
	return { url: `http://127.0.0.1:${await listen(t, server)}/`, bodies };
}

const text = (result: object): unknown => (result as { content: { text?: unknown }[] }).content[0]?.text;

/** Engines know nothing of transports: each transport on the first engine, and the other engine with one. */
const MATRIX = [
	...Object.keys(TRANSPORTS).map((name) => [ENGINE, name] as const),
	...ENGINES.slice(1).map((engine) => [engine, "websocket"] as const),
];

for (const [engine, transport] of cases(MATRIX)) {
	describe(`a virtual device and the gateway over ${transport}, firmware on ${engine.kind}`, () => {
		const open = TRANSPORTS[transport] as NonNullable<(typeof TRANSPORTS)[string]>;
		const connect = async (t: TestContext) => {
			const { gateway, config } = await open(t);
			// On a busy computer a device may need a second attempt.
			const online = nextOnline(gateway.servers);
			await startDevice(t, engine, { config });
			return { device: (await online).connection as Connection, gateway };
		};

		it("uploads its screen and previews a picture", async (t) => {
			const { device } = await connect(t);
			const upload = await webService(t, "");
			assert.equal((await callTool(device, "self.screen.snapshot", { url: upload.url }, PATIENT)).isError, false);
			const body = upload.bodies[0] as Buffer;
			const jpeg = body.subarray(body.indexOf(Buffer.from([0xff, 0xd8, 0xff])));
			const gallery = await webService(t, jpeg);
			assert.equal((await callTool(device, "self.screen.preview_image", { url: gallery.url }, PATIENT)).isError, false);
			const noPicture = await webService(t, "no picture");
			assert.equal(
				(await callTool(device, "self.screen.preview_image", { url: noPicture.url }, PATIENT)).isError,
				true,
			);
			const failed = await callTool(device, "self.screen.snapshot", { url: "http://127.0.0.1:1/" }, PATIENT);
			assert.equal(failed.isError, true);
		});

		it("restarts on request, and keeps its volume", async (t) => {
			const { device, gateway } = await connect(t);
			await callTool(device, "self.audio_speaker.set_volume", { volume: 12 });
			const again = nextSession(gateway.servers);
			assert.equal(text(await callTool(device, "self.reboot")), "true");
			const status = await callTool((await again).connection, "self.get_device_status");
			assert.equal(JSON.parse(String(text(status))).audio_speaker.volume, 12);
			assert.equal((await again).connection.identity.clientId, device.identity.clientId);
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
			assert.equal(gateway.servers.connections.length, 0);
			assert.doesNotMatch([...rejected, ...log].join(), /secret/);
		});
	});
}

const xs = ENGINES.find(({ kind }) => kind === "xs");

describe("a virtual device that fails", { skip: xs === undefined }, () => {
	it("has the firmware's limits follow its heap", async (t) => {
		const backend = await RawBackend.listen(t);
		const program = await startVirtualDevice(backend.url, "--chunk-bytes", "512000");
		t.after(() => program.stop());
		assert.equal(((await backend.greet()) as { max_message_bytes?: number }).max_message_bytes, 64_000);
	});

	it("is started again by its watchdog", async (t) => {
		const { gateway, config } = await openOverWebSocket(t);
		const connected = nextSession(gateway.servers);
		const { device } = await startDevice(t, xs as Engine, { config, watchdog: true });
		await connected;
		const again = nextSession(gateway.servers);
		const exits: string[] = [];
		device.on("exit", ({ code }) => exits.push(code));
		device.crash();
		assert.equal((await again).server.id, device.macAddress);
		assert.deepEqual(exits, ["exception"]);
	});

	it("keeps its settings in a file", async (t) => {
		const folder = temporaryFolder();
		const settingsFile = join(folder, "nested", "settings.json");
		const { gateway, config } = await openOverWebSocket(t);
		const connected = nextSession(gateway.servers);
		const { device: first } = await startDevice(t, xs as Engine, { config, settingsFile });
		await callTool((await connected).connection, "self.screen.set_theme", { theme: "dark" });
		await until(() => readFileSync(settingsFile, "utf8").includes("dark"), "the file is written");
		first.stop();
		const again = nextSession(gateway.servers);
		await startDevice(t, xs as Engine, { config, settingsFile });
		const status = await callTool((await again).connection, "self.get_device_status");
		assert.equal(JSON.parse(String(text(status))).screen.theme, "dark");
	});
});
