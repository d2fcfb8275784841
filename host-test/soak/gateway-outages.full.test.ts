import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Gate } from "../../gateway/test/support/gate.js";
import { type StartedProgram, startProgram } from "../../gateway/test/support/program.js";
import { ENGINE, startDevice } from "../e2e/fixtures.js";
import { connectSession, FOLLOWING_CLIENTS, type FollowingClient } from "../e2e/following-clients.js";
import { until } from "../support/until.js";
import { OUTAGE, RETURN_LIMIT } from "./limits.js";

// Clients recover whatever fails: a device, the gateway, the network on either side. In `npm run soak` networks fail for a
// minute.

/** The device that is called, and two of its tools as clients list them. */
const LAMP = { macAddress: "02:00:00:00:00:01" };
const VOLUME = "virtual_000001__self_audio_speaker_set_volume";
const REBOOT = "virtual_000001__self_reboot";

const setVolume = (client: FollowingClient) => client.call(VOLUME, { volume: 30 });
const portOf = (url: string): number => Number(new URL(url).port);

function allOnline({ gateway }: StartedProgram): boolean {
	return gateway.servers.all.length > 0 && gateway.servers.all.every(({ online }) => online);
}

async function connectAll(t: TestContext, url: string): Promise<Readonly<Record<string, FollowingClient>>> {
	const clients = Object.entries(FOLLOWING_CLIENTS).map(
		async ([name, connect]) => [name, await connect(t, url)] as const,
	);
	return Object.fromEntries(await Promise.all(clients));
}

const FAILURES: Readonly<Record<string, (network: Gate) => void>> = {
	"is silent": (network) => network.silence(),
	"is cut": (network) => network.cut(),
};

describe("a client that stays connected", () => {
	it("does not notice that a device restarts, except that its call takes longer", async (t) => {
		const started = await startProgram(t, { userTools: ["*"], offlineWait: RETURN_LIMIT });
		await startDevice(t, ENGINE, { config: { backend: started.deviceUrl }, ...LAMP });
		await until(() => allOnline(started), "the device is known");
		for (const [name, client] of Object.entries(await connectAll(t, `${started.base}/mcp`))) {
			assert.equal((await client.call(REBOOT)).isError, false, name);
			await until(() => !allOnline(started), "it restarts");
			assert.equal((await setVolume(client)).isError, false, name);
			assert.equal(client.told(), 0, name);
		}
	});

	for (const [failure, fail] of Object.entries(FAILURES)) {
		it(`continues after its network ${failure}, and receives the changes`, async (t) => {
			const started = await startProgram(t);
			await startDevice(t, ENGINE, { config: { backend: started.deviceUrl }, ...LAMP });
			await until(() => allOnline(started), "the device is known");
			const network = await Gate.open(t, portOf(started.base));
			const url = `http://127.0.0.1:${network.port}/mcp`;
			const clients = await connectAll(t, url);
			const byDefault = await connectSession(t, url);
			fail(network);
			await startDevice(t, ENGINE, { config: { backend: started.deviceUrl } });
			await delay(OUTAGE);
			network.restore();
			for (const [name, client] of Object.entries(clients)) {
				await until(() => client.told() > 0, `a client of ${name} is told`);
				const [lamp, fan] = await volumeTools(client);
				assert.equal((await client.call(lamp as string, { volume: 30 })).isError, false, name);
				assert.equal((await client.call(fan as string, { volume: 30 })).isError, false, name);
			}
			t.diagnostic(`the SDK's client, by default, was told ${byDefault.told()} times on a stream`);
			assert.equal((await setVolume(byDefault)).isError, false);
			await until(() => byDefault.told() > 0, "it is told with the answer at the latest");
		});
	}

	for (const transport of ["websocket", "mqtt"] as const) {
		for (const [failure, fail] of Object.entries(FAILURES)) {
			it(`calls a device over ${transport} again after its network ${failure} for a while`, async (t) => {
				const started = await startProgram(t, { mqtt: true, offlineWait: 100, callTimeout: 1_000 });
				const network = await Gate.open(t, portOf(started.program.urls[transport] as string));
				const scheme = transport === "mqtt" ? "mqtt" : "ws";
				await startDevice(t, ENGINE, { config: { backend: `${scheme}://127.0.0.1:${network.port}` }, ...LAMP });
				await until(() => allOnline(started), "the device is known");
				const clients = await connectAll(t, `${started.base}/mcp`);
				fail(network);
				const meanwhile = await Promise.all(Object.values(clients).map(setVolume));
				assert.ok(meanwhile.every(({ isError }) => isError === true));
				t.diagnostic(
					`meanwhile clients are told: ${(meanwhile[0]?._meta as Record<string, unknown> | undefined)?.["xs-mcp/error"]}`,
				);
				await delay(OUTAGE);
				network.restore();
				const back = performance.now();
				await until(
					async () => (await setVolume(clients["2025-11-25"] as FollowingClient)).isError === false,
					"the device is online again",
				);
				t.diagnostic(`online again after ${((performance.now() - back) / 1000).toFixed(1)} s`);
				for (const [name, client] of Object.entries(clients)) {
					// On a loaded machine a call may take longer than it is given here.
					const called = async (): Promise<boolean> => (await setVolume(client)).isError === false;
					await until(called, `a client of ${name} can call it again`);
					assert.equal(client.told(), 0, `${name}: its tools are the same`);
				}
			});
		}
	}
});

async function volumeTools(client: FollowingClient): Promise<string[]> {
	return (await client.list()).filter((name) => name.endsWith("set_volume"));
}
