import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
	LAMP,
	SET_VOLUME,
	startGateway,
	startWithDevice,
	type TestGateway,
	type WireCall,
	WireDevice,
} from "xs-mcp-gateway/testing/gateway";
import type { RequestContext, ServerTool } from "xs-mcp-manager/core";
import { until } from "../../../host-test/support/testing.js";

const OK = { content: [{ type: "text", text: "ok" }] };

/** Calls the volume tool of the only device. */
async function setVolume({ gateway }: TestGateway, volume: unknown, context?: RequestContext) {
	const server = gateway.servers.find(LAMP);
	const tool = server?.tools.find(({ name }) => name === SET_VOLUME.name) as ServerTool;
	return await server?.call(tool, { volume }, { principal: "somebody", ...context });
}

const volumes = (calls: readonly WireCall[]): unknown[] => calls.map((call) => call.arguments.volume);

describe("calls to a device", () => {
	it("start in the order in which they came, a few at a time", async (t) => {
		const { side, device } = await startWithDevice(t, { callsPerServer: 2 }, { onCall: () => undefined });
		const calls = [1, 2, 3, 4, 5].map((volume) => setVolume(side, volume));
		await until(() => device.calls.length === 2, "two calls have started");
		for (let answered = 0; answered < calls.length; answered += 1) {
			await until(() => device.calls.length === Math.min(answered + 2, calls.length), "the next call has started");
			device.answer(device.calls[answered]?.id as number, OK);
		}
		await Promise.all(calls);
		assert.deepEqual(volumes(device.calls), [1, 2, 3, 4, 5]);
	});

	it("start in that order also if the first is of a tool that was not called before", async (t) => {
		const other = { ...SET_VOLUME, name: "other", inputSchema: { ...SET_VOLUME.inputSchema, title: "other" } };
		const { side, device } = await startWithDevice(t, {}, { tools: [SET_VOLUME, other] });
		await setVolume(side, 0);
		const server = side.gateway.servers.find(LAMP);
		const tool = server?.tools.find(({ name }) => name === "other") as ServerTool;
		await Promise.all([server?.call(tool, { volume: 1 }), setVolume(side, 2)]);
		assert.deepEqual(volumes(device.calls), [0, 1, 2]);
	});

	it("that are not answered in time name the device, may have been carried out, and are cancelled there", async (t) => {
		const { side, device } = await startWithDevice(t, { callTimeout: 30 }, { onCall: () => undefined });
		await assert.rejects(setVolume(side, 1), {
			code: "timeout",
			message: "lamp_000001 did not answer the call within 0.03 s. The call may have been carried out",
		});
		await until(() => device.cancelled.length === 1, "the device is told");
		assert.equal(device.cancelled[0], device.calls[0]?.id);
	});

	it("are rejected when too many wait already", async (t) => {
		const { side, device } = await startWithDevice(t, { callsPerServer: 1 }, { onCall: () => undefined });
		const accepted = Array.from({ length: 65 }, (_, index) => setVolume(side, index));
		await assert.rejects(setVolume(side, 65), { code: "queue-full" });
		for (let answered = 0; answered < accepted.length; answered += 1) {
			await until(() => device.calls.length === answered + 1, "the next has started");
			device.answer(device.calls[answered]?.id as number, OK);
		}
		await Promise.all(accepted);
	});

	it("that wait are kept when the device disconnects; one under way is not made again, for it may have been carried out", async (t) => {
		const { side, device } = await startWithDevice(t, { callsPerServer: 1 }, { onCall: () => undefined });
		const [first, second] = [setVolume(side, 1), setVolume(side, 2)];
		await until(() => device.calls.length === 1, "the first has started");
		const cutOff = { code: "server-disconnected", message: /may have been carried out/ };
		await Promise.all([device.unplug(), assert.rejects(first, cutOff)]);
		const back = await WireDevice.connect(t, side);
		await second;
		assert.deepEqual(volumes(back.calls), [2]);
	});

	it("are cancelled while they wait, and while they run", async (t) => {
		const { side, device } = await startWithDevice(t, { callsPerServer: 1 }, { onCall: () => undefined });
		const [running, waiting] = [new AbortController(), new AbortController()];
		const calls = [running, waiting].map(({ signal }, index) => setVolume(side, index, { signal }));
		const failures = calls.map((call) => assert.rejects(call, { code: "cancelled" }));
		await until(() => device.calls.length === 1, "the first has started");
		waiting.abort();
		await failures[1];
		running.abort();
		await failures[0];
		await until(() => device.cancelled.length === 1, "the device is told");
		assert.deepEqual(volumes(device.calls), [0]);
	});

	it("fail as a bad answer if the result breaks the tool's outputSchema, but not if the tool failed", async (t) => {
		const side = await startGateway(t);
		const outputSchema = { type: "object", properties: { celsius: { type: "number" } }, required: ["celsius"] };
		const pattern = { type: "object", properties: { unit: { pattern: "^[CF]$" } } };
		const content = [{ type: "text", text: "20" }];
		let result: object = {};
		const tools = [
			{ ...SET_VOLUME, outputSchema },
			{ ...SET_VOLUME, name: "unit", outputSchema: pattern },
		];
		await WireDevice.connect(t, side, { tools, onCall: () => result });
		const [temperature, unit] = side.gateway.servers.find(LAMP)?.tools ?? [];
		const call = async (tool = temperature) =>
			await side.gateway.servers.find(LAMP)?.call(tool as ServerTool, { volume: 1 }, { principal: "somebody" });
		for (const [structuredContent, problem] of [
			[{ celsius: "warm" }, "celsius: must be number"],
			[{}, "celsius: is missing"],
			[undefined, "structuredContent: is missing"],
			[[20], "structuredContent: must be object"],
		] as const) {
			result = { content, structuredContent };
			await assert.rejects(call(), { code: "invalid-result", message: new RegExp(`outputSchema: ${problem}$`) });
		}
		result = { content, structuredContent: { unit: "K" } };
		await assert.rejects(
			call(unit),
			{ code: "invalid-result", message: /unit: must match pattern/ },
			"in the other thread",
		);
		result = { content, structuredContent: { celsius: 20 } };
		assert.deepEqual((await call())?.structuredContent, { celsius: 20 });
		result = { content, isError: true };
		assert.equal((await call())?.isError, true);
	});
});
