import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { nextOnline, nextSession, startGateway } from "xs-mcp-gateway/testing/gateway";
import { callTool } from "../host-test/support/call-tool.js";
import { copyWorkTree } from "../host-test/support/guide.js";
import { noSdk, sdk } from "../host-test/support/sdk.js";
import { buildForSimulator, Simulator } from "../host-test/support/simulator.js";

const EXAMPLE = fileURLToPath(new URL("../examples/set-lamp.ts", import.meta.url));

function copyWithTool(t: TestContext): string {
	const folder = copyWorkTree();
	t.after(() => rmSync(folder, { recursive: true, force: true }));
	const source = readFileSync(EXAMPLE, "utf8");
	writeFileSync(
		join(folder, "src/tools/set-lamp.ts"),
		source.replaceAll('"../src/tools/', '"./').replaceAll('"../src/', '"../'),
	);
	const manifest = join(folder, "src/manifest.json");
	writeFileSync(
		manifest,
		readFileSync(manifest, "utf8").replace('"./tools/reboot"', '"./tools/reboot", "./tools/set-lamp"'),
	);
	return folder;
}

describe("a tool is one file", { skip: noSdk }, () => {
	it("and the simulator offers it", async (t) => {
		const folder = copyWithTool(t);
		const { gateway, deviceUrl } = await startGateway(t);
		const online = nextOnline(gateway.servers);
		const session = nextSession(gateway.servers);
		const simulator = await Simulator.start(sdk, await buildForSimulator(sdk, folder, [`backend=${deviceUrl}`]), {
			headless: true,
		});
		t.after(() => simulator.stop());
		await online;
		const { connection: device } = await session;
		const { content } = await callTool(device, "self.lamp.set", { on: true, brightness: 50 });
		assert.deepEqual(content, [{ type: "text", text: '{"on":true,"rgb":[128,90,45]}' }]);
	});

	it("and the image for a chip has it, in flash if src/preload.json names it", (t) => {
		const folder = copyWithTool(t);
		const list = join(folder, "src/preload.json");
		writeFileSync(list, readFileSync(list, "utf8").replace("[", '["src/tools/set-lamp",'));
		const { stdout, stderr } = spawnSync("npm", ["run", "xs-mcp", "flash", "--", "--target", "esp32", "--link-only"], {
			cwd: folder,
			encoding: "utf8",
		});
		assert.match(stdout, /The firmware links for esp32/, stderr);
		const linked = join(folder, ".cache/moddable/firmware-linked/esp32/tmp/esp32/release/xs-mcp/mc.xs.c");
		const scripts = /gxScripts\[mxScriptsCount\] = \{([\s\S]*?)\n\};/.exec(readFileSync(linked, "latin1"))?.[1] ?? "";
		assert.match(scripts, /"src\/tools\/board\/set-lamp"/);
	});
});
