import assert from "node:assert/strict";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { importsOf, resolveImport, sourcesIn } from "../../host-test/support/imports.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** What each folder of the gateway may import, besides itself and packages: docs/architecture.md. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
	config: [],
	servers: ["config"],
	devices: ["servers", "config"],
	configured: ["servers"],
	manager: ["configured", "servers"],
	proxy: ["configured", "servers", "clients"],
	clients: ["servers", "gateway.js"],
	http: ["clients", "servers", "devices", "config", "events.js", "metrics.js", "log.js", "log-limiter.js"],
	cli: [
		"program.js",
		"config",
		"manager",
		"clients",
		"servers",
		"http",
		"proxy",
		"events.js",
		"log.js",
		"log-destination.js",
		"printable.js",
	],
};

const EVERYWHERE = ["version.js", "rate-limit.js", "liveness.js"];

/** Folders of the firmware that any part of the gateway may import. */
const FIRMWARE = /^src\/(?:text|mcp_server)\//;

for (const path of sourcesIn(`${ROOT}gateway/src`).filter((each) => each.includes("/"))) {
	const folder = path.split("/")[0] as string;
	it(`gateway/src/${path} imports only what its folder may`, () => {
		const allowed = [folder, ...(ALLOWED[folder] ?? []), ...EVERYWHERE];
		for (const specifier of importsOf(`${ROOT}gateway/src/${path}`).filter((each) => each.startsWith("."))) {
			const target = resolveImport(specifier, `gateway/src/${path}`);
			const room = target.replace("gateway/src/", "").split("/")[0] as string;
			assert.ok(FIRMWARE.test(target) || allowed.includes(room), `${specifier} from ${folder}`);
		}
	});
}
