import assert from "node:assert/strict";
import { it } from "node:test";
import { benchFleets } from "../tools/bench/gateway-sections.js";
import { makeReport } from "../tools/bench/report.js";

it("the bench of the gateway measures a small fleet", async () => {
	const report = makeReport(() => {});
	await benchFleets(report, [12], { calls: 20, settle: 100, rest: 100 });
	assert.match(report.text(), /^\| a client reads the whole list \| \d+ tools, /m);
});
