import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { Metrics } from "../../src/operator/metrics.js";

const deployed = (name: string): string =>
	readFileSync(fileURLToPath(new URL(`../../deploy/${name}`, import.meta.url)), "utf8");

/** The names of the gateway's metrics in a text. */
function metricsIn(text: string): Set<string> {
	const named = text.match(/xs_mcp_gateway_\w+/g) ?? [];
	return new Set(named.map((name) => name.replace(/_(count|bucket)$/, "")));
}

/** The names of all metrics, of a gateway in a cluster. */
async function allMetrics(): Promise<string[]> {
	const none = () => 0;
	const { registry } = new Metrics({
		devicesConnected: none,
		devicesElsewhere: none,
		devicesKnown: none,
		serversConnected: none,
		sessions: none,
		historyBytes: none,
		auditBytes: none,
		failedSaves: none,
		droppedWebhookEvents: none,
		cluster: { listsRefused: none, isConnected: () => true },
	});
	return (await registry.getMetricsAsJSON()).map(({ name }) => name);
}

describe("the dashboard for Grafana", () => {
	it("shows every metric of the gateway, and no others", async () => {
		const shown = metricsIn(deployed("grafana-dashboard.json"));
		assert.deepEqual([...shown].sort(), (await allMetrics()).sort());
	});
});

describe("the alerts for Prometheus", () => {
	it("are rules about metrics of the gateway", async () => {
		const { groups } = parse(deployed("alerts.yml")) as { groups: { rules: { alert: string; expr: string }[] }[] };
		const rules = groups.flatMap((group) => group.rules);
		assert.ok(rules.length > 5);
		const metrics = await allMetrics();
		for (const { alert, expr } of rules) {
			const unknown = [...metricsIn(expr)].filter((name) => !metrics.includes(name));
			assert.deepEqual(unknown, [], alert);
		}
	});
});
