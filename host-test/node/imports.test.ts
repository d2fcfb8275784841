import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { importsOf, resolveImport, sourcesIn } from "../support/imports.js";

const SOURCE = fileURLToPath(new URL("../../src/", import.meta.url));

/** Modules of Moddable's SDK, and the virtual device's, as src/types declares them: only boards and the platform know them. */
const HOST_MODULES = readdirSync(`${SOURCE}types`)
	.flatMap((name) => [...readFileSync(`${SOURCE}types/${name}`, "utf8").matchAll(/^declare module "([^"]+)"/gm)])
	.map(([, name]) => name as string)
	.filter((name) => !name.startsWith("src/"));

/** What each folder of the firmware may import, besides itself: imports point down. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
	text: [],
	hardware: ["deep-freeze.js"],
	audio: ["hardware"],
	device_state: ["deep-freeze.js"],
	mcp_server: ["text", "deep-freeze.js"],
	protocols: ["text", "hardware", "deep-freeze.js"],
	http: ["text", "hardware"],
	http_server: ["text", "hardware", "mcp_server", "protocols", "read-setting.js", "deep-freeze.js"],
	discovery: ["hardware"],
	improv: ["hardware", "text", "firmware.js", "read-setting.js", "deep-freeze.js"],
	setup: ["text", "hardware", "http_server", "protocols", "read-setting.js", "deep-freeze.js"],
	drivers: ["hardware", "deep-freeze.js"],
	mcp_features: ["mcp_server", "text", "deep-freeze.js"],
	bootstrap: ["text", "hardware", "http", "protocols", "firmware.js", "read-setting.js", "deep-freeze.js"],
	update: ["text", "hardware", "http", "protocols", "firmware.js", "read-setting.js"],
	tools: ["audio", "hardware", "http", "mcp_server", "firmware.js", "deep-freeze.js"],
	resources: ["hardware", "mcp_server", "mcp_features", "firmware.js", "deep-freeze.js"],
	prompts: ["hardware", "mcp_server", "mcp_features", "deep-freeze.js"],
	app: [
		...["text", "hardware", "http", "mcp_server", "protocols", "bootstrap", "device_state", "tools", "update"],
		"audio",
		...["http_server", "discovery", "setup"],
		...["deep-freeze.js", "firmware.js", "read-setting.js"],
	],
	boards: ["hardware", "drivers", "platform", ...HOST_MODULES],
	platform: [
		"drivers",
		"hardware",
		"http",
		"http_server",
		"protocols",
		"text",
		"deep-freeze.js",
		"read-setting.js",
		...HOST_MODULES,
	],
	"main.ts": [
		...["app", "hardware", "http_server", "mcp_features", "resources", "setup", "improv", "src/platform/hmac-sha256"],
		...["src/boards/target/board", "mc/config", "src/platform/network", "src/platform/http-server", "time", "timer"],
		...["src/platform/dns-sd", "src/platform/mods"],
	],
	"firmware.ts": ["deep-freeze.js"],
	"read-setting.ts": ["hardware"],
	"deep-freeze.ts": [],
};

/** The folder of the firmware that a file belongs to, or a file of its top level. */
function home(path: string): string {
	return path.split("/")[0] as string;
}

for (const name of sourcesIn(SOURCE)) {
	it(`src/${name} imports only what its folder may`, () => {
		const allowed = [home(name), ...(ALLOWED[home(name)] ?? [])];
		for (const specifier of importsOf(`${SOURCE}${name}`)) {
			const target = resolveImport(specifier, name);
			assert.ok(allowed.includes(specifier.startsWith(".") ? home(target) : target), `${specifier} from ${home(name)}`);
		}
	});
}
