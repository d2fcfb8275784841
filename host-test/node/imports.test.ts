import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";

const SOURCE = fileURLToPath(new URL("../../src/", import.meta.url));

/** What each folder of the firmware may import, besides itself: imports point down. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
	text: [],
	hardware: [],
	device_state: [],
	mcp_server: ["text"],
	protocols: ["text"],
	tools: ["hardware", "mcp_server", "firmware.js"],
	app: ["hardware", "mcp_server", "protocols", "device_state", "tools", "firmware.js"],
	boards: ["hardware", "drivers", "net", "preference", "timer", "virtual-host"],
	platform: [
		"app",
		"embedded:io/socket/tcp",
		"embedded:network/mqtt/client",
		"embedded:network/websocket/client",
		"net",
	],
	"main.ts": ["app", "board", "mc/config", "platform/network", "timer"],
	"firmware.ts": [],
};

function imports(file: string): string[] {
	return [...readFileSync(file, "utf8").matchAll(/^(?:import|export)[^"';]*?from "([^"]+)"|^import "([^"]+)"/gm)].map(
		([, from, bare]) => from ?? bare ?? "",
	);
}

/** The folder of the firmware that a file belongs to, or a file of its top level. */
function home(path: string): string {
	return path.split("/")[0] as string;
}

for (const name of readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"))) {
	it(`src/${name} imports only what its folder may`, () => {
		const allowed = [home(name), ...(ALLOWED[home(name)] ?? [])];
		for (const specifier of imports(`${SOURCE}${name}`)) {
			const target = specifier.startsWith(".") ? new URL(specifier, `file:///${name}`).pathname.slice(1) : specifier;
			assert.ok(allowed.includes(specifier.startsWith(".") ? home(target) : target), `${specifier} from ${home(name)}`);
		}
	});
}
