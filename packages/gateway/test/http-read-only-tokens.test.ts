import assert from "node:assert/strict";
import { describe, type TestContext } from "node:test";
import { testWith } from "../../../host-test/support/testing.js";
import { connectClient, ERAS, REBOOT, SET_VOLUME, STATUS, toolNames, WireDevice } from "../testing/gateway.js";
import { makeStateFolder, sendJson, startProgram, tokensIn } from "../testing/program.js";

const OWN_READER = { ...STATUS, name: "measure", annotations: { readOnlyHint: true } };

async function start(t: TestContext) {
	const stateFolder = makeStateFolder();
	const secret = await tokensIn(stateFolder).add({ name: "viewer", kind: "client", readOnly: true });
	const gateway = await startProgram(t, { managementTools: "all" }, stateFolder);
	const token = await gateway.tokens.add({ name: "lamp", kind: "device" });
	const tools = [SET_VOLUME, REBOOT, STATUS, OWN_READER];
	const device = await WireDevice.connect(t, gateway, { token, tools });
	const headers = { Authorization: `Bearer ${secret}` };
	const ask = async (method: string, path: string, json?: object): Promise<number> => {
		const response = await sendJson(method, gateway.base + path, json, headers);
		await response.body?.cancel();
		return response.status;
	};
	return { gateway, device, secret, ask };
}

const itStarted = testWith(start);

describe("a read-only token", () => {
	for (const era of Object.keys(ERAS) as (keyof typeof ERAS)[]) {
		itStarted(`lists and calls tools that only read, ${era}`, async ({ gateway, device, secret }, t) => {
			for (const [path, prefix] of [
				["/mcp/lamp_000001", ""],
				["/mcp?catalog=full", "lamp_000001__"],
			]) {
				const client = await connectClient(t, new URL(`${gateway.base}${path}`), era, { token: secret });
				assert.deepEqual(await toolNames(client), [`${prefix}self_get_device_status`, `${prefix}measure`]);
				await client.callTool({ name: `${prefix}measure`, arguments: {} });
				await assert.rejects(
					client.callTool({ name: `${prefix}self_audio_speaker_set_volume`, arguments: { volume: 1 } }),
					/Unknown tool/,
				);
				const { contents } = await client.readResource({ uri: "device://lamp_000001/state" });
				assert.equal(contents.length, 1);
				await client.close();
			}
			assert.deepEqual([...new Set(device.calls.map(({ name }) => name))], ["measure"]);
		});
	}

	itStarted("finds no other tool by the catalog's tools", async ({ gateway, device, secret }, t) => {
		const client = await connectClient(t, new URL(`${gateway.base}/mcp?catalog=search`), "2025-11-25", {
			token: secret,
		});
		const { tools } = await client.listTools();
		assert.ok(tools.every(({ annotations }) => annotations?.readOnlyHint === true));
		const args = { name: "lamp_000001__self_audio_speaker_set_volume", arguments: { volume: 1 } };
		const result = await client.callTool({ name: "tool_call", arguments: args });
		assert.equal(result.isError, true);
		assert.equal(device.calls.length, 0);
		await client.close();
	});

	itStarted("sees the devices, and changes nothing", async ({ gateway, ask }) => {
		assert.deepEqual([await ask("GET", "/devices"), await ask("GET", "/console/session")], [200, 200]);
		for (const [method, path] of [
			["PATCH", "/devices/lamp_000001"],
			["DELETE", "/devices/lamp_000001"],
			["DELETE", "/devices/lamp_000001/session"],
			["POST", "/devices/lamp_000001/firmware"],
			["DELETE", "/devices?offlineSeconds=1"],
			["POST", "/bindings/123456"],
			["DELETE", "/bindings/123456"],
			["POST", "/tokens"],
			["POST", "/servers/x/restart"],
		] as const) {
			assert.equal(await ask(method, path, method === "PATCH" ? { alias: "x" } : undefined), 403, `${method} ${path}`);
		}
		assert.equal(gateway.gateway.servers.find("lamp_000001")?.online, true);
	});

	itStarted("is listed with its last use, which survives a restart", async ({ gateway, ask }) => {
		await ask("GET", "/devices");
		await gateway.gateway.close();
		const tokens = tokensIn(gateway.stateFolder);
		const record = tokens.records.find(({ name }) => name === "viewer");
		assert.equal(typeof (record && tokens.lastUse(record)), "number");
	});
});
