import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ask } from "../testing/command-line.js";
import { connectClient } from "../testing/gateway.js";
import { startTwo, startTwoWithLamp } from "../testing/gateways.js";
import { whyNoNats } from "../testing/nats-server.js";
import { type StartedProgram, startProgram } from "../testing/program.js";
import { openSession, postIn } from "../testing/raw-session.js";

describe("xs-mcp-gateway cluster status", { skip: whyNoNats }, () => {
	it("lists the gateways, and metrics count each device once", async (t) => {
		const { a, b } = await startTwoWithLamp(t);
		await connectClient(t, new URL(`${a.base}/mcp`), "2025-11-25");
		const { code, stdout } = await ask(a)(t, "cluster", "status");
		assert.equal(code, 0);
		assert.match(stdout, /^a +\S+ +\S+ +1 +1 +0 +this one$/m);
		assert.match(stdout, /^b +\S+ +\S+ +0 +0 +0$/m);
		const metricsOf = async ({ base }: StartedProgram) => await (await fetch(`${base}/metrics`)).text();
		assert.match(await metricsOf(a), /devices_connected 1\n[\s\S]*devices_elsewhere 0\n/);
		assert.match(await metricsOf(b), /devices_connected 0\n[\s\S]*devices_elsewhere 1\n/);
	});

	it("says that a gateway is alone", async (t) => {
		const { code, stderr } = await ask(await startProgram(t))(t, "cluster", "status");
		assert.equal(code, 1);
		assert.match(stderr, /this gateway is alone/);
	});
});

describe("a session of a client, at another gateway of the cluster", { skip: whyNoNats }, () => {
	it("is not found, so that the client begins a new one", async (t) => {
		const { a, b } = await startTwo(t);
		const { session } = await openSession(`${a.base}/mcp`);
		assert.equal((await postIn(`${b.base}/mcp`, { method: "tools/list" }, session)).status, 404);
		assert.notEqual((await openSession(`${b.base}/mcp`)).session, "");
	});
});
