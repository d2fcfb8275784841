import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { until } from "../../../host-test/support/testing.js";
import { connectClient } from "../testing/gateway.js";
import { LAMP, openClusterStore, setVolume, startTwoWithLamp } from "../testing/gateways.js";
import { whyNoNats } from "../testing/nats-server.js";

/** Two gateways, the lamp at the first one, and the stores as another version would have them. */
async function startThree(t: TestContext) {
	const { nats, a, b, device } = await startTwoWithLamp(t);
	const connection = await nats.connect(t);
	const [store, shortLived] = [
		await openClusterStore(t, nats, "store"),
		await openClusterStore(t, nats, "short_lived"),
	];
	const claim = shortLived.get(`claim/${LAMP}`)?.value as { readonly claim: string };
	return { a, b, device, connection, store, shortLived, claim };
}

describe("another version in the cluster", { skip: whyNoNats }, () => {
	it("may send members that this one does not know, and what cannot be read", async (t) => {
		const { a, b, connection, store, shortLived, claim } = await startThree(t);
		await store.set("device/nothing", { colour: "red" });
		await shortLived.set("claim/nothing", "red");
		await shortLived.set("gateway/nothing", []);
		await shortLived.set(`claim/${LAMP}`, { ...claim, colour: "red" });
		await store.set("alias/later", { device: LAMP, colour: "red" });
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
		const { a, b, device, connection, store, shortLived, claim } = await startThree(t);
		const lease = { v: 2, incarnation: "c", program: "9.0.0", since: 0, devices: 1 };
		await shortLived.set("gateway/c", lease);
		const other = "aa:bb:cc:00:00:09";
		await store.set(`device/${other}`, store.get(`device/${LAMP}`)?.value);
		await shortLived.set(`claim/${other}`, { ...claim, v: 2, gateway: "c", incarnation: "c" });
		for (const { log, gateway } of [a, b]) {
			await until(() => /gateway c sends messages of a later version.*Upgrade this gateway/.test(log()), "it says so");
			assert.equal(gateway.servers.find(other)?.online, false);
		}
		const call = { v: 2, device: LAMP, claim: claim.claim, method: "tools/call", params: {} };
		const refused = await connection.request("xsmcp.to.a.call", JSON.stringify(call));
		assert.match(refused.string(), /"error":.*does not know this request.*Nothing was sent/);
		assert.equal(device.calls.length, 0);
		const client = await connectClient(t, new URL(`${b.base}/mcp`), "2026-07-28");
		assert.equal(await setVolume(client, 1), "true");
		assert.equal(a.log().split("gateway c sends messages of a later version").length, 2, "said once");
	});

	it("gets a device that connects to it, though its entry cannot be read here", async (t) => {
		const { a, device, shortLived, claim } = await startThree(t);
		const key = `claim/${LAMP}`;
		await shortLived.set(key, { ...claim, v: 2, gateway: "c", incarnation: "c", claim: "c" });
		await device.disconnected();
		assert.match(JSON.stringify(shortLived.get(key)), /"v":2/);
		assert.match(a.log(), /connected to gateway of a later version/);
	});
});
