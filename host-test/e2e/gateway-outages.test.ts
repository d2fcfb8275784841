import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { makeStateFolder, type StartedProgram, startProgram } from "../../gateway/test/support/program.js";
import { until } from "../support/until.js";
import { ENGINES, startDevice } from "./fixtures.js";
import { connectSession, FOLLOWING_HOSTS, type FollowingHost } from "./following-hosts.js";
import { startGateway } from "./gateway-process.js";
import { OUTAGE, RETURN_LIMIT } from "./soak.js";
import { TestNetwork } from "./test-network.js";

// Hosts stay connected whatever fails: a device, the gateway, the network on either side. `npm run soak` has networks fail
// for a minute.

const [engine] = ENGINES as [(typeof ENGINES)[number]];

/** The device that calls go to, and two of its tools as clients list them. */
const LAMP = { macAddress: "02:00:00:00:00:01" };
const VOLUME = "virtual_000001__self_audio_speaker_set_volume";
const REBOOT = "virtual_000001__self_reboot";

const setVolume = (host: FollowingHost) => host.call(VOLUME, { volume: 30 });
const portOf = (url: string): number => Number(new URL(url).port);

function isThere({ gateway }: StartedProgram): boolean {
	return gateway.servers.all.length > 0 && gateway.servers.all.every(({ online }) => online);
}

async function connectAll(t: TestContext, url: string): Promise<Readonly<Record<string, FollowingHost>>> {
	const hosts = Object.entries(FOLLOWING_HOSTS).map(async ([name, connect]) => [name, await connect(t, url)] as const);
	return Object.fromEntries(await Promise.all(hosts));
}

/** How a network fails. */
const FAILURES: Readonly<Record<string, (network: TestNetwork) => Promise<void> | void>> = {
	"is silent": (network) => network.silence(),
	"is cut": (network) => network.cut(),
};

describe("a host that stays connected", { timeout: 600_000 }, () => {
	it("does not notice that a device restarts, but that its call takes a while", async (t) => {
		const started = await startProgram(t, { userTools: ["*"], awayWait: RETURN_LIMIT });
		await startDevice(t, engine, { config: { backend: started.deviceUrl }, ...LAMP });
		await until(() => isThere(started), "the device is known");
		for (const [name, host] of Object.entries(await connectAll(t, `${started.base}/mcp`))) {
			assert.equal((await host.call(REBOOT)).isError, false, name);
			await until(() => !isThere(started), "it restarts");
			assert.equal((await setVolume(host)).isError, false, name);
			assert.equal(host.told(), 0, name);
		}
	});

	for (const signal of ["SIGTERM", "SIGKILL"] as const) {
		it(`goes on after the gateway was ended by ${signal} and started again`, async (t) => {
			const folder = makeStateFolder(t);
			const first = await startGateway(folder);
			t.after(() => first.program.stop());
			await startDevice(t, engine, { config: { backend: first.deviceUrl }, ...LAMP });
			const { "2026-07-28": stateless, ...others } = await connectAll(t, `${first.base}/mcp`);
			await until(async () => (await stateless?.list())?.includes(VOLUME) === true, "the device is known");
			const files = (): string[] => readdirSync(`${folder}/devices`);
			await until(() => files().some((name) => name.endsWith(".json")), "what is known is on disk");
			await first.program.stop(signal);
			const ports = ["--http-port", first.base, "--websocket-port", first.deviceUrl];
			const flags = ports.map((each) => (each.startsWith("--") ? each : String(portOf(each))));
			const second = await startGateway(folder, ...flags, "--away-wait", String(RETURN_LIMIT));
			t.after(() => second.program.stop());
			// It knows the device's tools from before, and the call waits for the device.
			assert.equal((await setVolume(stateless as FollowingHost)).isError, false);
			for (const [name, host] of Object.entries(others)) {
				// MCP "Session Management": 404 is how a host learns that it has to begin a new session.
				await assert.rejects(setVolume(host), /Session not found: begin a new one with initialize/, name);
				const again = await FOLLOWING_HOSTS[name]?.(t, `${second.base}/mcp`);
				assert.equal((await setVolume(again as FollowingHost)).isError, false, name);
			}
		});
	}

	for (const [failure, fail] of Object.entries(FAILURES)) {
		it(`goes on after its network ${failure}, and hears what has changed`, async (t) => {
			const started = await startProgram(t);
			await startDevice(t, engine, { config: { backend: started.deviceUrl }, ...LAMP });
			await until(() => isThere(started), "the device is known");
			const network = await TestNetwork.to(t, portOf(started.base));
			const url = `http://127.0.0.1:${network.port}/mcp`;
			const hosts = await connectAll(t, url);
			const byDefault = await connectSession(t, url);
			await fail(network);
			await startDevice(t, engine, { config: { backend: started.deviceUrl } });
			await delay(OUTAGE);
			await network.restore();
			for (const [name, host] of Object.entries(hosts)) {
				await until(() => host.told() > 0, `a host of ${name} is told`, RETURN_LIMIT);
				const [lamp, fan] = await volumeTools(host);
				assert.equal((await host.call(lamp as string, { volume: 30 })).isError, false, name);
				assert.equal((await host.call(fan as string, { volume: 30 })).isError, false, name);
			}
			t.diagnostic(`the SDK's client, by default, was told ${byDefault.told()} times on a stream`);
			const [lamp] = await volumeTools(byDefault);
			assert.equal((await byDefault.call(lamp as string, { volume: 30 })).isError, false);
			await until(() => byDefault.told() > 0, "it is told with the answer at the latest");
		});
	}

	for (const transport of ["websocket", "mqtt"] as const) {
		for (const [failure, fail] of Object.entries(FAILURES)) {
			it(`calls a device again whose network, over ${transport}, ${failure} for a while`, async (t) => {
				const started = await startProgram(t, { mqtt: true, awayWait: 100, callTimeout: 1_000 });
				const network = await TestNetwork.to(t, portOf(started.program.urls[transport] as string));
				const scheme = transport === "mqtt" ? "mqtt" : "ws";
				await startDevice(t, engine, { config: { backend: `${scheme}://127.0.0.1:${network.port}` }, ...LAMP });
				await until(() => isThere(started), "the device is known");
				const hosts = await connectAll(t, `${started.base}/mcp`);
				await fail(network);
				const meanwhile = await Promise.all(Object.values(hosts).map(setVolume));
				assert.ok(meanwhile.every(({ isError }) => isError === true));
				t.diagnostic(`meanwhile hosts hear: ${JSON.stringify(meanwhile[0]?._meta)}`);
				await delay(OUTAGE);
				await network.restore();
				const back = performance.now();
				await until(
					async () => (await setVolume(hosts["2025-11-25"] as FollowingHost)).isError === false,
					"it is back",
					RETURN_LIMIT,
				);
				t.diagnostic(`back after ${((performance.now() - back) / 1000).toFixed(1)} s`);
				for (const [name, host] of Object.entries(hosts)) {
					assert.equal((await setVolume(host)).isError, false, name);
					assert.equal(host.told(), 0, `${name}: its tools are the same`);
				}
			});
		}
	}
});

async function volumeTools(host: FollowingHost): Promise<string[]> {
	return (await host.list()).filter((name) => name.endsWith("set_volume"));
}
