// A tool that is added to an emulated chip as a mod, and its stored data. Run by npm test -- --esp32.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { sdkEnvironment } from "xs-mcp/moddable/sdk";
import { temporaryFolder } from "../support/testing.js";
import { describeChips } from "./chips.js";
import { startInSession } from "./device.js";
import { storeMod } from "./flash-image.js";

const MOD = fileURLToPath(new URL("../../examples/mod-lamp", import.meta.url));

describeChips({ topic: "a mod" }, (build, tools) => {
	it("has the tool of a mod, which stores a setting", async (t) => {
		const image = await build();
		const built = temporaryFolder();
		const args = ["-m", "-p", "esp32", "-t", "build", "-o", built];
		await promisify(execFile)(join(tools.sdk.bin, "mcrun"), args, { cwd: MOD, env: sdkEnvironment(tools.sdk) });
		const archive = readFileSync(join(built, "bin/esp32/release/mod-lamp/mod-lamp.xsa"));
		const device = await startInSession(t, { image: { ...image, flash: storeMod(image.flash, archive) } });
		// At the first start the SDK links the mod in flash, which QEMU does not read again.
		for (const on of [true, false, true]) {
			await device.cutPower();
			await device.nextSession();
			const { result } = await device.call("self.lamp.toggle");
			assert.deepEqual(JSON.parse(result.content[0].text), { on });
		}
	});
});
