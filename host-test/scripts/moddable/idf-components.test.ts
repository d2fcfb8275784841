import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { mcconfig } from "../../../scripts/moddable/mcconfig.js";
import { sdkEnvironment } from "../../../scripts/moddable/sdk.js";
import { noSdk, sdk } from "../../support/sdk.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const TARGET = "esp32/xiao_esp32s3_sense";

it("the makefile of a board with a camera adds no component while it configures ESP-IDF: they are listed before", {
	skip: noSdk,
}, async () => {
	const folder = temporaryFolder("xs-mcp-components-");
	const calls = join(folder, "calls");
	const output = join(folder, "build");
	writeFileSync(join(folder, "idf.py"), `#!/bin/sh\necho "$@" >>${calls}\n`, { mode: 0o755 });
	const { PATH, ...rest } = sdkEnvironment(sdk);
	const env = { ...rest, PATH: [folder, PATH].join(delimiter), IDF_PATH: ROOT };
	// The makefile's own rule, which a complete build runs at the same time as the one that configures.
	await mcconfig(sdk, ROOT, ["-p", TARGET, "-t", "dependencies"], { show: false, env, output });
	assert.equal(existsSync(calls) ? readFileSync(calls, "utf8") : "", "");
	const project = join(output, "tmp", ...TARGET.split("/"), "release", "xs-mcp", "xsProj-esp32s3");
	const listed = readFileSync(join(project, "main", "idf_component.yml"), "utf8");
	assert.match(listed, /^dependencies:\n {2}espressif\/esp32-camera: "\^\d.*"\n {2}espressif\/esp_jpeg: "\^\d.*"\n$/);
});
