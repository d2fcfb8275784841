import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openClientServer } from "../../gateway/src/mcp/open-client-server.js";
import { Endpoint } from "../../gateway/src/transports/endpoint.js";
import { EndpointPeer } from "../../gateway/test/support/endpoint.js";
import { LOCAL, startWithDevice } from "../../gateway/test/support/gateway.js";
import { until } from "../support/until.js";

// The gateway gets what other people's hosted agents were seen to send: `npm run interop` runs the real ones.

/** One conversation of xiaozhi-esp32-server through xinnan-tech/mcp-endpoint-server, which makes its ids its own. */
async function converse(peer: EndpointPeer, uuid: string, volume: number): Promise<void> {
	const name = "lamp_000001__self_audio_speaker_set_volume";
	const [first, second] = [`${uuid}_n_1`, `${uuid}_n_2`];
	const before = peer.received.length;
	const answersTo = (wanted: string) =>
		peer.received.slice(before).flatMap(({ id, result }) => (id === wanted ? [result as Record<string, unknown>] : []));
	const answered = (id: string, count = 1): Promise<void> =>
		until(() => answersTo(id).length === count, `${id} is answered`);
	// It does not wait for its first answer before it lists the tools.
	const clientInfo = { name: "XiaozhiMCPEndpointClient", version: "1.0.0" };
	const capabilities = { roots: { listChanged: true }, sampling: {} };
	const params = { protocolVersion: "2024-11-05", capabilities, clientInfo };
	peer.say({ jsonrpc: "2.0", id: first, method: "initialize", params });
	peer.say({ jsonrpc: "2.0", method: "notifications/initialized", params: {} });
	peer.say({ jsonrpc: "2.0", id: second, method: "tools/list" });
	await answered(first);
	await answered(second);
	peer.say({ jsonrpc: "2.0", id: first, method: "tools/call", params: { name, arguments: { volume } } });
	await answered(first, 2);
	const [initialized, called] = answersTo(first);
	assert.equal(initialized?.protocolVersion, "2024-11-05");
	assert.ok(initialized?.serverInfo);
	const [{ tools } = {}] = answersTo(second);
	assert.equal((tools as { name: string }[])[0]?.name, name);
	assert.deepEqual(called, { content: [{ type: "text", text: "true" }], isError: false });
}

describe("recorded agents", () => {
	it("xiaozhi-esp32-server lists and calls tools through mcp-endpoint-server, one agent after the other", async (t) => {
		const { side: started, device } = await startWithDevice(t);
		const peer = await EndpointPeer.listen(t);
		const log: string[] = [];
		const report = (text: string): number => log.push(text);
		const onerror = (error: Error): number => report(error.message);
		const endpoint = new Endpoint({
			url: peer.url,
			open: () => openClientServer(started.gateway, { access: LOCAL, onerror }),
			onChange: report,
		});
		t.after(() => endpoint.close());
		await peer.connected();
		await converse(peer, "0a1b2c3d-aaaa", 46);
		await converse(peer, "4e5f6a7b-bbbb", 47);
		const args = device.calls.map((call) => call.arguments);
		assert.deepEqual(args, [{ volume: 46 }, { volume: 47 }]);
		assert.equal(log.length, 1, log.join("\n"));
	});
});
