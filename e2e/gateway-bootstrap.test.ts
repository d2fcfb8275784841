import assert from "node:assert/strict";
import { join } from "node:path";
import { it, type TestContext } from "node:test";
import { connectClient } from "xs-mcp-gateway/testing/gateway";
import { type StartedProgram, startProgram } from "xs-mcp-gateway/testing/program";
import { temporaryFolder, until } from "../host-test/support/testing.js";
import { ENGINE, startDevice } from "./fixtures.js";

const MAC = "02:00:00:00:00:01";
const VOLUME = "virtual_000001__self_audio_speaker_set_volume";

const TRANSPORTS = {
	websocket: { mqtt: false },
	mqtt: { mqtt: true, websocket: false },
} as const;

async function powerOn(t: TestContext, { base }: StartedProgram, settingsFile?: string) {
	const config = { otaUrl: `${base}/xiaozhi/ota/` };
	return await startDevice(t, ENGINE, {
		config,
		macAddress: MAC,
		...(settingsFile !== undefined && { settingsFile }),
	});
}

async function setVolume(t: TestContext, { base, gateway }: StartedProgram): Promise<unknown> {
	await until(() => gateway.servers.find(MAC)?.online === true, "the device is online");
	const client = await connectClient(t, new URL(`${base}/mcp`), "2025-11-25");
	const { content } = await client.callTool({ name: VOLUME, arguments: { volume: 30 } });
	return (content[0] as { text?: unknown }).text;
}

for (const [transport, flags] of Object.entries(TRANSPORTS)) {
	it(`a device that knows only an otaUrl, over ${transport}, firmware on ${ENGINE.kind}, shows its code until the operator approves it, and then can be called, also after a restart`, async (t) => {
		const started = await startProgram(t, { bootstrap: "approve", ...flags });
		const folder = temporaryFolder();
		const settingsFile = join(folder, "settings.json");
		const { device, log } = await powerOn(t, started, settingsFile);
		const shown = (): string | undefined =>
			log.map((line) => /^activation code (\d{6}): /.exec(line)?.[1]).find(Boolean);
		await until(() => shown() !== undefined, "the device shows a code");
		const code = shown() as string;
		assert.equal(started.gateway.servers.find(MAC), undefined);
		const response = await fetch(`${started.base}/bindings/${code}`, { method: "POST" });
		assert.deepEqual(await response.json(), { device: MAC });
		assert.equal(await setVolume(t, started), '{"volume":30}');
		assert.equal(started.gateway.servers.find(MAC)?.connection?.identity.transport, transport);
		device.stop();
		await until(() => started.gateway.servers.find(MAC)?.online === false, "the device is offline");
		await powerOn(t, started, settingsFile);
		assert.equal(await setVolume(t, started), '{"volume":30}');
	});
}
