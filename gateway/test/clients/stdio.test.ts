import assert from "node:assert/strict";
import type { Readable } from "node:stream";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { until } from "../../../host-test/support/until.js";
import { ERAS, WireDevice } from "../support/gateway.js";

const PROGRAM = {
	command: process.execPath,
	args: [
		"--import",
		fileURLToPath(new URL("../../../scripts/register.mjs", import.meta.url)),
		fileURLToPath(new URL("../support/stdio.ts", import.meta.url)),
	],
	stderr: "pipe",
} as const;

/** The tools of {@link WireDevice}, as a catalog of all devices lists them. */
const [VOLUME, REBOOT] = ["lamp_000001__self_audio_speaker_set_volume", "lamp_000001__self_reboot"];

const names = ({ tools }: { tools: { name: string }[] }): string[] => tools.map(({ name }) => name);

/** What the gateway says of itself, line by line as it comes. */
function readLog(stderr: unknown): { lines: () => string } {
	let text = "";
	(stderr as Readable).on("data", (chunk) => {
		text += chunk;
	});
	return { lines: () => text };
}

async function deviceUrl(log: { lines: () => string }): Promise<string> {
	await until(() => log.lines().includes("devices: "), "the gateway listens", 30_000);
	return `ws://127.0.0.1:${/devices: (\d+)/.exec(log.lines())?.[1]}/`;
}

async function start(test: TestContext, era: keyof typeof ERAS, device?: string) {
	const transport = new StdioClientTransport({ ...PROGRAM, args: [...PROGRAM.args, ...(device ? [device] : [])] });
	const log = readLog(transport.stderr);
	const host = new Client({ name: "test-host", version: "1.0.0" }, ERAS[era]);
	test.after(() => host.close());
	await host.connect(transport);
	return { host, log, url: await deviceUrl(log) };
}

for (const era of Object.keys(ERAS) as (keyof typeof ERAS)[]) {
	describe(`a host of ${era}, over standard input and output`, { timeout: 60_000 }, () => {
		it("lists and calls tools, and follows devices that come", async (t) => {
			const { host, url } = await start(t, era);
			assert.equal(host.getNegotiatedProtocolVersion(), era);
			let told = 0;
			host.setNotificationHandler("notifications/tools/list_changed", () => {
				told += 1;
			});
			if (era === "2026-07-28") {
				await host.listen({ toolsListChanged: true });
			}
			assert.deepEqual(names(await host.listTools()), []);
			await WireDevice.connectTo(t, url);
			await until(() => told === 1, "told");
			assert.deepEqual(names(await host.listTools()), [VOLUME]);
			const { content } = await host.callTool({ name: VOLUME, arguments: { volume: 1 } });
			assert.deepEqual(content, [{ type: "text", text: "true" }]);
			await assert.rejects(host.callTool({ name: REBOOT }), { code: -32602 });
		});

		it("is told when the state of a device changes that it has subscribed to", async (t) => {
			const { host, url } = await start(t, era);
			const device = await WireDevice.connectTo(t, url);
			await until(async () => names(await host.listTools(undefined, { cacheMode: "refresh" })).length > 0, "known");
			const updates: string[] = [];
			host.setNotificationHandler("notifications/resources/updated", ({ params }) => {
				updates.push(params.uri);
			});
			const uri = "device://lamp_000001/state";
			if (era === "2026-07-28") {
				await host.listen({ resourceSubscriptions: [uri] });
			} else {
				await host.subscribeResource({ uri });
			}
			device.notify("notifications/state_changed", { oldState: "idle", newState: "speaking" });
			await until(() => updates.length > 0, "told");
			assert.equal(updates[0], uri);
		});

		it("may be given one device, before that is known", async (t) => {
			const { host, url } = await start(t, era, "lamp_000002");
			await WireDevice.connectTo(t, url, { id: "aa:bb:cc:00:00:01" });
			await WireDevice.connectTo(t, url, { id: "aa:bb:cc:00:00:02" });
			const list = async (): Promise<string[]> => names(await host.listTools(undefined, { cacheMode: "refresh" }));
			await until(async () => (await list()).length > 0, "the device is known");
			assert.deepEqual(await list(), ["self_audio_speaker_set_volume"]);
		});
	});
}

describe("the gateway, started by a host", { timeout: 60_000 }, () => {
	it("serves the official SDK's client of the first generation", async (t) => {
		const transport = new TransportV1({ ...PROGRAM, args: [...PROGRAM.args] });
		const log = readLog(transport.stderr);
		const host = new ClientV1({ name: "v1-host", version: "1.0.0" });
		t.after(() => host.close());
		await host.connect(transport);
		await WireDevice.connectTo(t, await deviceUrl(log));
		await until(async () => (await host.listTools()).tools.length === 1, "the device is known");
		const { isError } = await host.callTool({ name: VOLUME, arguments: { volume: 1 } });
		assert.equal(isError, false);
	});

	it("ends when its host is gone", async (t) => {
		const { host, log } = await start(t, "2025-11-25");
		await host.close();
		await until(() => log.lines().includes("closed"), "the gateway has closed");
	});
});
