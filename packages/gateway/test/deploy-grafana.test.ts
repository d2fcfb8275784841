import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { startProgram } from "../testing/program.js";

const deployed = (name: string): string =>
	readFileSync(fileURLToPath(new URL(`../deploy/${name}`, import.meta.url)), "utf8");

function metricsIn(text: string): Set<string> {
	const named = text.match(/xs_mcp_gateway_\w+/g) ?? [];
	return new Set(named.map((name) => name.replace(/_(count|bucket)$/, "")));
}

const OF_CLUSTERS = ["xs_mcp_gateway_cluster_connected", "xs_mcp_gateway_cluster_lists_refused_total"];

/** The names of all metrics, of a gateway in a cluster. */
async function allMetrics(t: TestContext): Promise<string[]> {
	const { gateway } = await startProgram(t);
	const metrics = await gateway.metrics.registry.getMetricsAsJSON();
	return [...metrics.map(({ name }) => name), ...OF_CLUSTERS];
}

it("the dashboard for Grafana shows every metric of the gateway, and no others", async (t) => {
	const shown = metricsIn(deployed("grafana-dashboard.json"));
	assert.deepEqual([...shown].sort(), (await allMetrics(t)).sort());
});

it("the alerts for Prometheus are rules about metrics of the gateway", async (t) => {
	const { groups } = parse(deployed("alerts.yml")) as { groups: { rules: { alert: string; expr: string }[] }[] };
	const rules = groups.flatMap((group) => group.rules);
	assert.ok(rules.length > 5);
	const metrics = await allMetrics(t);
	for (const { alert, expr } of rules) {
		const unknown = [...metricsIn(expr)].filter((name) => !metrics.includes(name));
		assert.deepEqual(unknown, [], alert);
	}
});
