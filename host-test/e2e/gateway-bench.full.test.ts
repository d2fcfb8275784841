import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { benchCluster } from "../../bench/gateway/cluster.js";
import { benchFleets } from "../../bench/gateway/fleet.js";
import { makeReport } from "../../bench/report.js";
import { whyNoNats } from "../../gateway/test/cluster/support/nats-server.js";

describe("the bench of the gateway", () => {
	it("measures a small fleet", async () => {
		const report = makeReport(() => {});
		await benchFleets(report, [12], { calls: 20, settle: 100, rest: 100 });
		assert.match(report.text(), /^\| a client reads the whole list \| \d+ tools, /m);
	});

	it("measures a small cluster while a gateway is killed", { skip: whyNoNats }, async () => {
		const report = makeReport(() => {});
		await benchCluster(report, { devices: 12, calls: 20, settle: 100, killed: 12 });
		assert.match(report.text(), /^\| … a second \| \d+ \| \d+ \| \d+ \|$/m);
		assert.match(report.text(), / 0 were carried out twice/);
	});
});
