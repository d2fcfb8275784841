import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { Metrics } from "../../src/operator/metrics.js";

const FILE = fileURLToPath(new URL("../../deploy/grafana-dashboard.json", import.meta.url));

describe("the dashboard for Grafana", () => {
	it("shows every metric of the gateway, and no others", async () => {
		const none = () => 0;
		const { registry } = new Metrics({
			devicesConnected: none,
			devicesElsewhere: none,
			devicesKnown: none,
			serversConnected: none,
			sessions: none,
			failedSaves: none,
		});
		const metrics = (await registry.getMetricsAsJSON()).map(({ name }) => name);
		const named = readFileSync(FILE, "utf8").match(/xs_mcp_gateway_\w+/g) ?? [];
		const shown = new Set(named.map((name) => name.replace(/_(count|bucket)$/, "")));
		assert.deepEqual([...shown].sort(), metrics.sort());
	});
});
