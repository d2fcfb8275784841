import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { readConfiguration } from "../src/config/configuration.js";
import { SETTING_NAMES, settingOf } from "../src/config/settings.js";
import { variableOf } from "../src/plugin.js";
import { run } from "../testing/command-line.js";
import { makeStateFolder, startProgram } from "../testing/program.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const DOCKERFILE = "packages/gateway/deploy/Dockerfile";
const COMPOSE = "packages/gateway/deploy/compose.yml";

interface Service {
	readonly build: { readonly context: string; readonly dockerfile: string };
	readonly environment?: Readonly<Record<string, string>>;
	readonly volumes: readonly string[];
	readonly ports?: readonly string[];
}

const dockerfile = readFileSync(ROOT + DOCKERFILE, "utf8").replace(/\\\n\s*/g, "");
const compose = readFileSync(ROOT + COMPOSE, "utf8");
const { services } = parse(compose, { merge: true }) as { readonly services: Readonly<Record<string, Service>> };

/** Arguments of an instruction of the Dockerfile, a text for each line with it. */
function instructions(name: string): string[] {
	return [...dockerfile.matchAll(new RegExp(`^${name} (.*)$`, "gm"))].map(([, rest]) => rest as string);
}

const environment = Object.fromEntries(
	instructions("ENV").flatMap((line) => line.split(" ").map((each) => each.split("="))),
);

/** @throws AssertionError if a variable is not one of the gateway's settings */
function configured(more: Readonly<Record<string, string>> = {}) {
	const names = SETTING_NAMES.map(variableOf);
	for (const name of Object.keys({ ...environment, ...more })) {
		assert.ok(names.includes(name), name);
	}
	return readConfiguration({ environment: { ...environment, ...more }, flags: {} });
}

describe("the image of the gateway", () => {
	it("copies only files that exist, and runs scripts that exist", () => {
		const copied = instructions("COPY").filter((line) => !line.startsWith("--"));
		for (const path of copied.flatMap((line) => line.split(" ").slice(0, -1))) {
			assert.ok(existsSync(ROOT + path), path);
		}
		const [, name = ""] = /RUN npm run pack -- (\S+) --to \/pack/.exec(dockerfile) ?? [];
		assert.ok(existsSync(`${ROOT}${name}/package.json`), name);
	});

	it("starts the program of the package, as a user without rights", () => {
		const { bin } = JSON.parse(readFileSync(`${ROOT}packages/gateway/package.json`, "utf8"));
		assert.deepEqual(JSON.parse(instructions("ENTRYPOINT")[0] ?? ""), Object.keys(bin));
		assert.deepEqual(instructions("USER"), ["node"]);
	});

	it("gives the gateway settings that it has, opens its ports, and keeps its state in the volume", () => {
		const { httpPort, websocketPort, stateFolder } = configured();
		assert.deepEqual(instructions("EXPOSE"), [`${websocketPort} ${httpPort}`]);
		assert.deepEqual(instructions("VOLUME"), [stateFolder]);
	});

	it("asks for the gateway's health where it answers", async (t) => {
		const [, url = ""] = /"(http:[^"]+)"/.exec(instructions("HEALTHCHECK")[0] ?? "") ?? [];
		const { port, pathname } = new URL(url);
		assert.equal(Number(port), settingOf("httpPort").default);
		const { base } = await startProgram(t);
		assert.equal((await fetch(base + pathname)).status, 200);
	});
});

describe("the compose file of the gateway", () => {
	it("has presets that build the image, with settings and ports of the gateway", () => {
		assert.deepEqual(Object.keys(services), ["gateway", "gateway-mqtt", "gateway-local"]);
		for (const { build, environment: more, volumes, ports = [] } of Object.values(services)) {
			assert.equal(build.dockerfile, DOCKERFILE);
			assert.ok(existsSync(`${ROOT}packages/gateway/deploy/${build.context}/${build.dockerfile}`));
			const { stateFolder, httpPort, websocketPort } = configured(more);
			assert.deepEqual(volumes, [`state:${stateFolder}`]);
			for (const port of ports) {
				assert.ok([httpPort, websocketPort].includes(Number(port.split(":").at(-1))), port);
			}
		}
		assert.equal(configured(services["gateway-mqtt"]?.environment).mqtt, true);
	});

	it("begins with commands that work: a token, without which the gateway does not start", async (t) => {
		const state = { XS_MCP_GATEWAY_STATE_FOLDER: makeStateFolder() };
		const ports = { XS_MCP_GATEWAY_HTTP_PORT: "0", XS_MCP_GATEWAY_WEBSOCKET_PORT: "0" };
		const without = await run(t, [], { ...environment, ...ports, ...state });
		assert.equal(without.code, 2);
		assert.match(without.stderr, /no token for clients/);
		const [, command = ""] = new RegExp(`${COMPOSE} run --rm gateway (.*)$`, "m").exec(compose) ?? [];
		const { code, stdout, stderr } = await run(t, command.split(" "), state);
		assert.equal(code, 0, stderr);
		assert.match(stdout, /^xsmcp_/);
	});
});
