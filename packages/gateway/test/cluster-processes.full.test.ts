import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { FREE_PORTS, startListening } from "../testing/command-line.js";
import { connectClient, WireDevice } from "../testing/gateway.js";
import { callUntilArrived, LAMP, setVolume, startCluster, untilAt, untilOnline } from "../testing/gateways.js";
import { NatsServer, whyNoNats } from "../testing/nats-server.js";
import { makeStateFolder, type StartedProgram } from "../testing/program.js";

/** A gateway in a process of its own. */
async function startProcess(t: TestContext, nats: NatsServer, name: string) {
	const cluster = ["--cluster", nats.url, "--cluster-name", name, "--state-folder", makeStateFolder()];
	return await startListening(t, ["serve", "--no-announce", ...FREE_PORTS, ...cluster]);
}

async function startBeside(t: TestContext) {
	const nats = await NatsServer.start(t);
	const other = await startProcess(t, nats, "other");
	const [here] = (await startCluster(t, nats, ["here"])) as [StartedProgram];
	const device = await WireDevice.connectTo(t, other.deviceUrl, { onCall: () => undefined });
	await untilAt(here, "other");
	const client = await connectClient(t, new URL(`${here.base}/mcp`), "2025-11-25");
	return { nats, other, here, device, client };
}

describe("a gateway of a cluster in another process", { skip: whyNoNats }, () => {
	it("is killed: its calls say that they may have been carried out, and its devices return elsewhere", async (t) => {
		const { other, here, device, client } = await startBeside(t);
		const { result: call } = await callUntilArrived(device, () => setVolume(client, 1));
		other.child.kill("SIGKILL");
		assert.match(await call, /disconnected during the call, which may have been carried out/);
		await untilOnline(here, false);
		const returned = await WireDevice.connect(t, here);
		assert.equal(await setVolume(client, 2), "true");
		assert.deepEqual([device.calls.length, returned.calls.length], [1, 1]);
	});

	it("is stopped for a while: its devices move, and it answers nothing when it goes on", async (t) => {
		const { nats, other, here, device, client } = await startBeside(t);
		other.child.kill("SIGSTOP");
		const call = setVolume(client, 1);
		assert.match(await call, /disconnected during the call, which may have been carried out/);
		await untilOnline(here, false);
		const returned = await WireDevice.connect(t, here);
		assert.equal(await setVolume(client, 2), "true");
		other.child.kill("SIGCONT");
		await device.disconnected();
		assert.equal(here.gateway.servers.find(LAMP)?.connection?.identity.gateway, undefined);
		assert.deepEqual([device.calls.length, returned.calls.length], [0, 1]);
		const [third] = (await startCluster(t, nats, ["third"])) as [StartedProgram];
		await untilAt(third, "here");
	});

	it("is stopped for a moment: it says why it sends nothing, and has its devices as before", async (t) => {
		const { other, here, device, client } = await startBeside(t);
		other.child.kill("SIGSTOP");
		const call = setVolume(client, 1);
		// Longer than a gateway may be stopped, shorter than its lease.
		await delay(4_000);
		other.child.kill("SIGCONT");
		assert.match(await call, /gateway other, which has the device, did not run for a while/);
		await untilAt(here, "other");
		assert.equal(device.calls.length, 0);
	});
});
