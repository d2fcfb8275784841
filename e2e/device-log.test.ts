import assert from "node:assert/strict";
import { it } from "node:test";
import { connectClient, nextOnline } from "xs-mcp-gateway/testing/gateway";
import { makeStateFolder, startProgram } from "xs-mcp-gateway/testing/program";
import { until } from "../host-test/support/testing.js";
import { ENGINE, startDevice } from "./fixtures.js";

it(`a device's own log, firmware on ${ENGINE.kind}, is read by a user-only tool, and kept by the gateway for its console`, async (t) => {
	const { gateway, base } = await startProgram(t, { userTools: ["*"] }, makeStateFolder());
	const online = nextOnline(gateway.servers);
	const backend = `${gateway.urls.websocket}?secret=topsecret`;
	const { device } = await startDevice(t, ENGINE, { config: { backend, pasword: "b" } });
	const { alias } = await online;
	const client = await connectClient(t, new URL(`${base}/mcp/${alias}`), "2025-11-25");
	const { structuredContent } = await client.callTool({ name: "self_get_log", arguments: {} });
	const { lines } = structuredContent as { lines: string[] };
	assert.ok(
		lines.some((line) => /^[0-9.]+ unknown settings: pasword$/.test(line)),
		lines.join("\n"),
	);
	assert.ok(
		lines.some((line) => / state \S+ -> idle$/.test(line)),
		lines.join("\n"),
	);
	assert.doesNotMatch(lines.join("\n"), /topsecret/);
	await device.press();
	const read = async () => await (await fetch(`${base}/devices/${alias}/log`)).text();
	await until(async () => (await read()).includes("button boot: press"), "the line about the press");
	await until(async () => (await read()).includes("unknown settings: pasword"), "the lines of before the session");
});
