import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { Kvm } from "@nats-io/kv";
import { until } from "../../../host-test/support/until.js";
import { connectClient } from "../support/gateway.js";
import { LAMP, setVolume, startTwoWithLamp } from "./support/gateways.js";
import { whyNoNats } from "./support/nats-server.js";

const KEY = Buffer.from(LAMP).toString("base64url");

/** Two gateways, the lamp at the first one, and a connection to NATS as another version would have it. */
async function startThree(t: TestContext) {
	const { nats, a, b, device } = await startTwoWithLamp(t);
	const connection = await nats.connect(t);
	const open = (bucket: string) => new Kvm(connection).open(bucket);
	const [gateways, devices] = [await open("xsmcp_gateways"), await open("xsmcp_devices")];
	const entry = (await devices.get(KEY))?.json<Record<string, unknown>>();
	return { a, b, device, connection, gateways, devices, entry };
}

describe("another version in the cluster", { skip: whyNoNats }, () => {
	it("may send members that this one does not know, and what cannot be read", async (t) => {
		const { a, b, connection, devices, entry } = await startThree(t);
		await devices.put("bm90aGluZw", JSON.stringify({ v: 1, colour: "red" }));
		await devices.put("bm9KU09O", "{");
		await devices.put(KEY, JSON.stringify({ ...entry, colour: "red", alias: "later" }));
		for (const { gateway } of [a, b]) {
			await until(() => gateway.servers.find("later")?.online === true, "the known members are read");
		}
		connection.publish("xsmcp.to.a.later", "{");
		connection.publish("xsmcp.event.b", "{");
		const client = await connectClient(t, new URL(`${b.base}/mcp/later`), "2026-07-28");
		const result = await client.callTool({ name: "self_audio_speaker_set_volume", arguments: { volume: 1 } });
		assert.equal(JSON.stringify(result.content).includes("true"), true);
		assert.doesNotMatch(a.log() + b.log(), /later version/);
	});

	it("is refused with a clear log if its messages are of a later version; the others go on", async (t) => {
		const { a, b, device, connection, gateways, devices, entry } = await startThree(t);
		const lease = { v: 2, incarnation: "c", program: "9.0.0", since: 0, devices: 1 };
		await gateways.put("c", JSON.stringify(lease));
		const other = { ...entry, v: 2, id: "aa:bb:cc:00:00:09", gateway: "c", incarnation: "c", alias: "of-c" };
		await devices.put(Buffer.from(other.id).toString("base64url"), JSON.stringify(other));
		for (const { log, program } of [a, b]) {
			await until(() => /gateway c sends messages of a later version.*Upgrade this gateway/.test(log()), "it says so");
			assert.equal(program.gateway.servers.find("of-c"), undefined);
		}
		const call = { v: 2, device: LAMP, claim: entry?.claim, method: "tools/call", params: {} };
		const refused = await connection.request("xsmcp.to.a.call", JSON.stringify(call));
		assert.match(refused.string(), /"error":.*does not know this request.*Nothing was sent/);
		assert.equal(device.calls.length, 0);
		const client = await connectClient(t, new URL(`${b.base}/mcp`), "2026-07-28");
		assert.equal(await setVolume(client, 1), "true");
		assert.equal(a.log().split("gateway c sends messages of a later version").length, 2, "said once");
	});

	it("gets a device that connects to it, though its entry cannot be read here", async (t) => {
		const { a, device, devices, entry } = await startThree(t);
		await devices.put(KEY, JSON.stringify({ ...entry, v: 2, gateway: "c", incarnation: "c", claim: "c" }));
		await device.disconnected();
		assert.equal((await devices.get(KEY))?.json<{ v: number }>().v, 2);
		assert.match(a.log(), /connected to gateway of a later version/);
	});
});
