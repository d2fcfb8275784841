import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { nextOnline, nextSession, startGateway } from "../../gateway/test/support/gateway.js";
import { callTool } from "../support/call-tool.js";
import { copyWorkTree } from "../support/guide.js";
import { noSdk, sdk } from "../support/sdk.js";
import { buildForSimulator, Simulator } from "../support/simulator.js";

const EXAMPLE = fileURLToPath(new URL("../../examples/set-lamp.ts", import.meta.url));

function copyWithTool(t: TestContext, file = "src/tools/board/set-lamp.ts"): string {
	const folder = copyWorkTree();
	t.after(() => rmSync(folder, { recursive: true, force: true }));
	const source = readFileSync(EXAMPLE, "utf8");
	writeFileSync(join(folder, file), source.replaceAll('"../src/tools/', '"../').replaceAll('"../src/', '"../../'));
	return folder;
}

function npm(folder: string, args: readonly string[], input = "") {
	return spawnSync("npm", args, { cwd: folder, input, encoding: "utf8" });
}

describe("a tool is one file", { skip: process.platform === "win32" && "npm needs a shell there" }, () => {
	it("and a virtual device offers it", (t) => {
		const { stdout } = npm(copyWithTool(t), ["start"], "call self.lamp.set on=true brightness=50\n");
		assert.match(stdout, /\{"on":true,"rgb":\[128,90,45\]\}/);
	});

	it("whose name another file has, too: the device does not start, and names both", (t) => {
		const folder = copyWithTool(t);
		const path = join(folder, "src/tools/board/set-lamp.ts");
		writeFileSync(path, readFileSync(path, "utf8").replace("self.lamp.set", "self.reboot"));
		const { status, stderr } = npm(folder, ["start"], "list\n");
		assert.notEqual(status, 0);
		assert.match(stderr, /src\/tools\/board\/reboot and src\/tools\/board\/set-lamp both define the tool self\.reboot/);
	});

	it("and the simulator offers it", { skip: noSdk }, async (t) => {
		const folder = copyWithTool(t);
		const { gateway, deviceUrl } = await startGateway(t);
		const online = nextOnline(gateway.servers);
		const session = nextSession(gateway.servers);
		const simulator = await Simulator.start(sdk, await buildForSimulator(sdk, folder, [`backend=${deviceUrl}`]), {
			headless: true,
		});
		t.after(() => simulator.stop());
		await online;
		const { session: device } = await session;
		const { content } = await callTool(device, "self.lamp.set", { on: true, brightness: 50 });
		assert.deepEqual(content, [{ type: "text", text: '{"on":true,"rgb":[128,90,45]}' }]);
	});

	it("and the image for a chip has it, in flash if src/preload.json names it", { skip: noSdk }, (t) => {
		const folder = copyWithTool(t);
		const list = join(folder, "src/preload.json");
		writeFileSync(list, readFileSync(list, "utf8").replace("[", '["src/tools/board/set-lamp",'));
		const { stdout, stderr } = npm(folder, ["run", "flash", "--", "--target", "esp32", "--link-only"]);
		assert.match(stdout, /The firmware links for esp32/, stderr);
		const linked = join(folder, ".cache/moddable/firmware-linked/esp32/tmp/esp32/release/xs-mcp/mc.xs.c");
		const scripts = /gxScripts\[mxScriptsCount\] = \{([\s\S]*?)\n\};/.exec(readFileSync(linked, "latin1"))?.[1] ?? "";
		assert.match(scripts, /"src\/tools\/board\/set-lamp"/);
	});
});

it("a fault in a manifest ends a virtual device at the start", (t) => {
	const folder = copyWithTool(t);
	const path = join(folder, "src/update/manifest.json");
	writeFileSync(path, readFileSync(path, "utf8").replace("../tools/update/*", "../tools/updates/*"));
	const { status, stderr } = npm(folder, ["start"], "list\n");
	assert.notEqual(status, 0);
	assert.match(stderr, /src\/update\/manifest\.json: "modules" names \.\.\/tools\/updates\/\*, which does not exist/);
});
