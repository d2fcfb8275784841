import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { parse, parseAllDocuments } from "yaml";
import { readConfiguration } from "../../src/config/configuration.js";

const read = (name: string): string => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), "utf8");

/** Fills in variables as compose does. */
const filled = (environment: object): Record<string, string> =>
	Object.fromEntries(
		Object.entries(environment).map(([name, value]) => [name, String(value).replace(/\$\{\w+:\?\}/, "value")]),
	);

describe("the compose file of a cluster", () => {
	const { services } = parse(read("cluster.compose.yml"), { merge: true });
	const gateways = ["gateway-1", "gateway-2", "gateway-3"];

	it("starts three gateways with their own names and states, on one NATS", () => {
		const configurations = gateways.map((name) => {
			assert.equal(services[name].image, "xs-mcp-gateway");
			return readConfiguration({ environment: filled(services[name].environment) });
		});
		const clusterNames = configurations.map(({ clusterName }) => clusterName);
		assert.deepEqual(clusterNames, gateways);
		assert.equal(new Set(gateways.map((name) => services[name].volumes[0])).size, 3);
		for (const { cluster, stateFolder } of configurations) {
			assert.equal(new URL(cluster as string).hostname, "nats");
			assert.equal(stateFolder, "/data", "the folder that the image's user owns");
		}
		assert.ok(services.nats.command.includes("-js"));
	});
});

it("the Kubernetes example of a cluster has settings that the gateway accepts", () => {
	const [set, service] = parseAllDocuments(read("cluster.kubernetes.yml")).map((each) => each.toJS());
	const [{ env, ports }] = set.spec.template.spec.containers;
	const named = env.map(({ name, value }: { name: string; value?: string }) => [name, value ?? "gateway-0"]);
	const { cluster, clusterName } = readConfiguration({ environment: Object.fromEntries(named) });
	assert.equal(cluster, "nats://gateway@nats:4222");
	assert.equal(clusterName, "gateway-0");
	assert.deepEqual(
		service.spec.ports.map(({ targetPort }: { targetPort: string }) => targetPort),
		ports.map(({ name }: { name: string }) => name),
	);
});
