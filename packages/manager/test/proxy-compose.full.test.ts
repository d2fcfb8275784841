import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { readProxyOptions } from "../src/proxy/proxy-options.js";
import { startProxy, startUpstream } from "../testing/proxy.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const FOLDER = `${ROOT}packages/manager/deploy`;

interface Service {
	readonly environment?: Readonly<Record<string, string>>;
	readonly volumes?: readonly string[];
}

const { services } = parse(readFileSync(`${FOLDER}/docker-compose.yml`, "utf8"), { merge: true }) as {
	readonly services: Readonly<Record<string, Service>>;
};
const dockerfile = readFileSync(`${FOLDER}/Dockerfile`, "utf8");

/** Arguments that a host appends to the image's command line. */
const UPSTREAM = "http://localhost:4401/mcp";

function optionsOf(preset: string) {
	return readProxyOptions({ upstream: UPSTREAM }, { ...services[preset]?.environment });
}

describe("the compose file of the proxy", () => {
	it("has presets that the proxy reads as plain, gated with an init script, and transparent", () => {
		const { upstream: _, ...plain } = optionsOf("proxy");
		assert.deepEqual(plain, { name: "mcp-proxy", skill: "", tools: undefined });
		const { upstream: __, ...gated } = optionsOf("penpot-proxy");
		assert.deepEqual(gated, {
			name: "penpot-official",
			skill: "/penpot",
			tools: ["execute_code", "export_shape", "penpot_api_info", "high_level_overview"],
			init: { script: "/app/init-scripts/penpot-init.js", tool: "execute_code" },
		});
		const { upstream: ___, ...transparent } = optionsOf("storybook-proxy");
		assert.deepEqual(transparent, { name: "storybook-mcp", skill: "", tools: undefined });
	});

	it("mounts the folder of the init script where the preset expects it", () => {
		const { environment, volumes } = services["penpot-proxy"] as Service;
		const [, target] = /:(\/[^:]+):ro$/.exec(volumes?.[0] ?? "") ?? [];
		assert.ok(target && environment?.MCP_INIT_SCRIPT?.startsWith(`${target}/`), String(target));
	});

	it("starts the proxy with the image's command line and what the host appends", async (t) => {
		const entrypoint = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)?.[1] ?? "[]") as string[];
		assert.deepEqual(entrypoint, ["xs-mcp-proxy"]);
		const { url } = await startUpstream(t);
		const { client } = await startProxy(t, [`--upstream=${url}`], services["penpot-proxy"]?.environment ?? {});
		assert.equal(client.getServerVersion()?.name, "penpot-official");
		assert.match(client.getInstructions() ?? "", /\/penpot/);
	});

	it("copies only files that exist into the image", () => {
		const copied = [...dockerfile.matchAll(/^COPY (?!--)(.*)$/gm)].flatMap(([, list = ""]) =>
			list.split(" ").slice(0, -1),
		);
		assert.ok(copied.length > 5);
		for (const path of copied) {
			assert.ok(existsSync(ROOT + path), path);
		}
	});
});
