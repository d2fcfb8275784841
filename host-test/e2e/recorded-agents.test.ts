import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openClientServer } from "../../gateway/src/mcp/open-client-server.js";
import { Endpoint } from "../../gateway/src/transports/endpoint.js";
import { EndpointPeer } from "../../gateway/test/support/endpoint.js";
import { LOCAL, startWithDevice } from "../../gateway/test/support/gateway.js";
import { until } from "../support/until.js";
import { AGENTS } from "./recorded-traffic.js";
import { replay } from "./replay.js";

// The gateway gets what other people's hosted agents were seen to send.

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
		let heard = 0;
		const hear = async (): Promise<string> => {
			await until(() => peer.received.length > heard, "the gateway answers");
			heard += 1;
			return JSON.stringify(peer.received[heard - 1]);
		};
		await replay({ say: (message) => peer.say(message), hear }, AGENTS);
		const args = device.calls.map((call) => call.arguments);
		assert.deepEqual(args, [{ volume: 46 }, { volume: 47 }]);
		assert.equal(log.length, 1, log.join("\n"));
	});
});
