import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it, type TestContext } from "node:test";
import { enableRollback } from "../../../scripts/moddable/rollback.js";
import type { Sdk } from "../../../scripts/moddable/sdk.js";

function makeFolders(t: TestContext): { sdk: Sdk; output: string } {
	const root = mkdtempSync(join(tmpdir(), "xs-mcp-rollback-"));
	t.after(() => rmSync(root, { recursive: true }));
	for (const project of ["xsProj-esp32", "xsProj-esp32c3", "targets"]) {
		mkdirSync(join(root, "build", "devices", "esp32", project), { recursive: true });
	}
	return { sdk: { root } as Sdk, output: join(root, "out") };
}

it("ESP-IDF finds the setting for rollback beside the settings that mcconfig writes, for every chip", (t) => {
	const { sdk, output } = makeFolders(t);
	enableRollback(sdk, output, "xs-mcp", ["-p", "esp32/m5stack", "ssid=x"]);
	enableRollback(sdk, output, "xs-mcp", ["-d", "-p", "esp32"]);
	enableRollback(sdk, output, "xs-mcp", ["-i", "-p", "esp32:src/boards/mine"]);
	for (const folder of ["m5stack/release", "debug", "mine/instrument"]) {
		for (const chip of ["esp32", "esp32c3"]) {
			const file = join(output, "tmp/esp32", folder, "xs-mcp", `xsProj-${chip}`, `sdkconfig.mc.${chip}`);
			assert.equal(readFileSync(file, "utf8"), "CONFIG_BOOTLOADER_APP_ROLLBACK_ENABLE=y\n");
		}
	}
});

it("ESP-IDF is configured again only if the setting is new", (t) => {
	const { sdk, output } = makeFolders(t);
	const config = join(output, "tmp/esp32/release/xs-mcp/xsProj-esp32/build/config");
	mkdirSync(config, { recursive: true });
	writeFileSync(join(config, "sdkconfig.h"), "");
	enableRollback(sdk, output, "xs-mcp", ["-p", "esp32"]);
	assert.equal(existsSync(join(config, "sdkconfig.h")), false);
	writeFileSync(join(config, "sdkconfig.h"), "");
	enableRollback(sdk, output, "xs-mcp", ["-p", "esp32"]);
	assert.equal(existsSync(join(config, "sdkconfig.h")), true);
});

it("a build for the simulator is left alone", (t) => {
	const { sdk, output } = makeFolders(t);
	enableRollback(sdk, output, "xs-mcp", ["-d", "-p", "lin"]);
	assert.equal(existsSync(output), false);
});
