import { it } from "node:test";
import { cases } from "../host-test/support/scope.js";
import { until } from "../host-test/support/testing.js";
import { announce, LOOPBACK } from "./announce.js";
import { ENGINES, type GatewaySide, openOverWebSocket, startDevice } from "./fixtures.js";

for (const engine of cases(ENGINES)) {
	it(`a virtual device that looks for a gateway, firmware on ${engine.kind}, finds the one that is announced, connects to it, and finds it again elsewhere`, async (t) => {
		const host = `test-${engine.kind}-${process.pid}`;
		const config = { backend: `mdns:xs-mcp-${host}`, token: "secret", mdnsInterface: LOOPBACK };
		const { log } = await startDevice(t, engine, { config });
		const connected = ({ gateway }: GatewaySide): Promise<void> =>
			until(() => gateway.servers.connections.length === 1, "a session").catch((error) => {
				throw new Error(`${error.message}; the device says:\n${log.join("\n")}`);
			});
		const first = await openOverWebSocket(t);
		const endAnnouncement = await announce(t, first, host);
		await connected(first);
		await endAnnouncement();
		const second = await openOverWebSocket(t);
		await announce(t, second, host);
		await first.gateway.close();
		await connected(second);
	});
}
