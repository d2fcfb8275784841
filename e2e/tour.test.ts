import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { describe, it } from "node:test";
import { start } from "./start-tour.js";

describe("npm start", () => {
	it("says why an update of the firmware has failed", () => {
		const { status, stdout } = start("call self.upgrade_firmware url=http://127.0.0.1:1/new.bin\n", "--engine", "v8");
		assert.match(stdout, /^ +failed: .*127\.0\.0\.1:1/m);
		assert.match(stdout, /^ +<- the screen shows an alert: Update failed: .*127\.0\.0\.1:1/m);
		assert.equal(status, 1);
	});

	it("carries out the commands that come through a pipe, quoted values too, and ends", () => {
		const commands = [
			"call self.light.set color=#ff8000",
			'call self.camera.take_photo question="What is this?"',
			"",
			"quit",
			"call self.reboot",
		];
		const { status, stdout } = start(`${commands.join("\n")}\n`, "--engine", "v8");
		assert.match(stdout, /light_set \{"color":"#ff8000"\}\n(?:.*\n)*? +\{.*"#ff8000".*\}\n/);
		assert.match(stdout, /take_photo \{"question":"What is this\?"\}\n/);
		const picture = /saved: (.+\.jpeg)/.exec(stdout)?.[1] as string;
		assert.equal(readFileSync(picture).readUInt16BE(), 0xffd8);
		rmSync(dirname(picture), { recursive: true });
		assert.doesNotMatch(stdout, /self_reboot \{\}/);
		assert.equal(status, 0);
	});
});
