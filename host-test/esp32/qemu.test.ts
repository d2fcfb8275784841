// The firmware on each chip that QEMU emulates, with the gateway and the official client. Run by npm test -- --esp32.
import assert from "node:assert/strict";
import { once } from "node:events";
import { it, type TestContext } from "node:test";
import type { Connection, Server } from "xs-mcp-gateway";
import { connectClient, LOCAL, startGateway } from "xs-mcp-gateway/testing/gateway";
import { callTool } from "../support/call-tool.js";
import { describeChips } from "./chips.js";
import { startChip } from "./device.js";
import { CALLS } from "./lengths.js";
import { HOST_ADDRESS, type QemuImage, type QemuTools } from "./qemu.js";

/** The SDK's client warns of a leak where one makes more calls than this: each has a listener of its own until the end. */
const CALLS_PER_CLIENT = 700;
const CALLS_PER_LOOK = 20;
/** Milliseconds until a session starts: much more than it takes, because the computer may be busy. */
const SESSION_TIMEOUT = 300_000;

/** The memory of the board in `self.get_system_info`, in bytes. */
interface Memory {
	readonly free_heap_size: number;
	readonly slots: number;
	readonly chunks: number;
}

async function timed(run: () => Promise<unknown>): Promise<number> {
	const begin = performance.now();
	await run();
	return performance.now() - begin;
}

/** A gateway for the device and for clients that may call every tool. */
async function openSides(t: TestContext) {
	const side = await startGateway(t);
	const backend = side.deviceUrl.replace("127.0.0.1", HOST_ADDRESS);
	side.access = { ...LOCAL, userTools: true };
	const nextSession = async (): Promise<Connection> => {
		const signal = AbortSignal.timeout(SESSION_TIMEOUT);
		const [{ connection }] = (await once(side.gateway.servers, "online", { signal })) as [Server];
		assert.ok(connection);
		return connection;
	};
	return { backend, side, nextSession };
}

async function useChip(t: TestContext, image: QemuImage, tools: QemuTools): Promise<void> {
	const { backend, side, nextSession } = await openSides(t);
	const powerOn = performance.now();
	const online = nextSession();
	startChip(t, { image, settings: { backend } });
	const first = await online;
	const bootTime = performance.now() - powerOn;

	let client = await connectClient(t, side.clientUrl(), "2025-11-25");
	const { tools: listed } = await client.listTools();
	const nameOf = (tool: string): string => {
		const found = listed.find(({ name }) => name.endsWith(tool));
		assert.ok(found, `${tool} is not listed: ${listed.map(({ name }) => name).join(", ")}`);
		return found.name;
	};
	const call = async (tool: string, args = {}): Promise<Record<string, unknown>> => {
		const { content, isError } = await client.callTool({ name: nameOf(tool), arguments: args });
		const text = content.map((part) => (part.type === "text" ? part.text : "")).join("");
		assert.ok(!isError, text);
		return JSON.parse(text);
	};
	const info = async (): Promise<{ readonly leastFreeHeap: number; readonly memory: Memory }> => {
		const { minimum_free_heap_size, chip_model_name, board } = await call("get_system_info");
		assert.equal(chip_model_name, tools.chip);
		return { leastFreeHeap: minimum_free_heap_size as number, memory: (board as { memory: Memory }).memory };
	};

	const { network } = await call("get_device_status");
	assert.deepEqual(network, { type: "ethernet" });
	await assert.rejects(callTool(first, "self.no_such_tool"), /self\.no_such_tool/);
	await assert.rejects(callTool(first, "self.get_device_status", { more: "x".repeat(70_000) }));
	const latencies: number[] = [];
	const memories: Memory[] = [];
	while (latencies.length < CALLS) {
		latencies.push(await timed(() => call("get_device_status")));
		if (latencies.length % CALLS_PER_LOOK === 0) {
			memories.push((await info()).memory);
		}
		if (latencies.length % CALLS_PER_CLIENT === 0) {
			await client.close();
			client = await connectClient(t, side.clientUrl(), "2025-11-25");
		}
	}
	const { leastFreeHeap } = await info();

	const restartTime = await timed(async () => {
		const online = nextSession();
		await call("reboot");
		await online;
	});
	assert.ok((await info()).leastFreeHeap > 0);
	latencies.sort((one, other) => one - other);
	const quantile = (share: number): string => `${latencies[Math.floor(latencies.length * share)]?.toFixed(1)} ms`;
	const range = (name: "slots" | "chunks"): string => {
		const values = memories.map((memory) => memory[name]);
		return `${Math.min(...values)} to ${Math.max(...values)} bytes of ${name}`;
	};
	const seconds = [bootTime, restartTime].map((time) => `${(time / 1_000).toFixed(1)} s`);
	t.diagnostic(`image of ${image.firmware.length} bytes, in a session ${seconds.join(", and again ")} after a restart`);
	t.diagnostic(`${CALLS} calls: half within ${quantile(0.5)}, 95 of 100 within ${quantile(0.95)}`);
	t.diagnostic(`system heap: ${leastFreeHeap} bytes least free, ${memories.at(-1)?.free_heap_size} at the end`);
	t.diagnostic(`XS, garbage included: ${range("slots")}, ${range("chunks")}`);
}

describeChips({ topic: "calls" }, (build, tools) => {
	it(`comes to a session, lists its tools, answers ${CALLS} calls and restarts`, async (t) =>
		useChip(t, await build(), tools));
});
