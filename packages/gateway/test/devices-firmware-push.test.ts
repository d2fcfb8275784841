import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { testWith, until } from "../../../host-test/support/testing.js";
import type { FirmwareOffer } from "../src/devices/firmware/firmware-route.js";
import { connectClient, LAMP, WireDevice } from "../testing/gateway.js";
import { makeFirmwareFolder, type StartedProgram, sendJson, startProgram } from "../testing/program.js";

const UPGRADE = {
	name: "self.upgrade_firmware",
	inputSchema: { type: "object", properties: { url: { type: "string" } }, required: ["url"] },
	annotations: { audience: ["user"] },
};

/** A gateway with firmware 1.1.0 for the lamp, which runs 1.0.0 and has no bootstrap. */
async function start(t: TestContext, flags: object = { userTools: ["*"] }) {
	const files = { "lamp_0.9.0.bin": "old", "lamp_1.1.0.bin": "new", "fan_9.0.0.bin": "of another model" };
	const firmwareFolder = makeFirmwareFolder(files);
	const started = await startProgram(t, { firmwareFolder, ...flags });
	const boot = (version?: string) =>
		WireDevice.connect(t, started, { id: LAMP, tools: [UPGRADE], ...(version && { version }) });
	return { started: { ...started, firmwareFolder }, boot };
}

const itStarted = testWith(start);

async function ask({ base }: StartedProgram, json: object) {
	const response = await sendJson("POST", `${base}/devices/lamp_000001/firmware`, json);
	return { status: response.status, body: (await response.json()) as FirmwareOffer & { error: { message: string } } };
}

const steps = ({ log }: StartedProgram) => [...log().matchAll(/"step":"([a-z-]+)"/g)].map(([, step]) => step);

describe("firmware that is pushed to a device without a bootstrap", () => {
	itStarted("can be downloaded, and is seen by the operator until the device runs it", async ({ started, boot }) => {
		const device = await boot();
		const { body } = await ask(started, {});
		assert.equal(body.version, "1.1.0");
		assert.equal(await (await fetch(body.url)).text(), "new");
		await until(() => steps(started).length === 2, "the download");
		await device.unplug();
		await boot("1.1.0");
		await until(() => steps(started).length === 3, "the new version");
		assert.deepEqual(steps(started), ["offered", "downloaded", "confirmed"]);
		assert.deepEqual((await ask(started, {})).body, {}, "nothing newer");
	});

	itStarted("is an older version only if that is asked for", async ({ started, boot }) => {
		assert.match((await ask(started, {})).body.error.message, /unknown device/);
		const device = await boot();
		assert.equal((await ask(started, { version: "0.9.0" })).body.version, "0.9.0");
		const missing = await ask(started, { version: "9.0.0" });
		assert.deepEqual(
			[missing.status, missing.body.error.message],
			[404, "no firmware 9.0.0 for lamp in firmwareFolder"],
		);
		await device.unplug();
		assert.equal((await ask(started, {})).status, 409);
	});

	itStarted("is not offered if the image has another version in it than its name says", async ({ started, boot }) => {
		const texts = ["pump", "0.2.0", "lamp"].map((text) => text.padEnd(32, "\0"));
		const image = `${"\0".repeat(288)}xs-mcp/1${texts.join("")}`;
		writeFileSync(join(started.firmwareFolder, "lamp_1.2.0.bin"), image);
		writeFileSync(join(started.firmwareFolder, "lamp_0.2.0.bin"), image);
		await boot();
		const { status, body } = await ask(started, {});
		assert.equal(status, 409);
		assert.equal(body.error.message, "lamp_1.2.0.bin has version 0.2.0 in it: rename it");
		assert.equal((await ask(started, { version: "0.2.0" })).body.version, "0.2.0");
	});

	it("needs the right to call user-only tools", async (t) => {
		const { started, boot } = await start(t, {});
		await boot();
		const { status, body } = await ask(started, {});
		assert.equal(status, 403);
		assert.match(body.error.message, /requires a token created with --allow-user-tools/);
	});

	it("is told of to the client whose call started the update: the new version, or that it was rolled back", async (t) => {
		const { started, boot } = await start(t);
		const device = await boot();
		const messages: unknown[] = [];
		const client = await connectClient(t, new URL(`${started.base}/mcp`), "2025-11-25");
		const other = await connectClient(t, new URL(`${started.base}/mcp`), "2025-11-25");
		client.setNotificationHandler("notifications/message", ({ params }) => void messages.push(params));
		other.setNotificationHandler("notifications/message", ({ params }) => void messages.push(params));
		const update = () =>
			client.callTool({ name: "lamp_000001__self_upgrade_firmware", arguments: { url: "http://127.0.0.1:1/x" } });
		await update();
		await device.unplug();
		const rolledBack = await boot("1.0.0");
		await until(() => messages.length === 1, "the rollback is told");
		await update();
		await rolledBack.unplug();
		const updated = await boot("1.1.0");
		await until(() => messages.length === 2, "the new version is told");
		assert.deepEqual(messages, [
			{
				level: "warning",
				logger: "firmware",
				data: "lamp_000001 rolled back to firmware 1.0.0: the new firmware did not reach its backend",
			},
			{ level: "info", logger: "firmware", data: "lamp_000001 runs firmware 1.1.0" },
		]);
		assert.deepEqual(steps(started), ["rolled-back", "confirmed"]);
		await update();
		updated.notify("notifications/state_changed", { newState: "upgrading" });
		updated.notify("notifications/state_changed", { newState: "idle" });
		await until(() => started.gateway.servers.find(LAMP)?.state === "idle", "the device goes on with what it runs");
		await updated.unplug();
		await boot("1.1.0");
		assert.equal(steps(started).length, 2, "an image that was not good is no rollback");
	});
});
