import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { typeScript } from "../e2e/program.js";

const root = fileURLToPath(new URL("../../", import.meta.url));

function start(commands: string, ...args: string[]): { status: number | null; stdout: string; stderr: string } {
	return spawnSync(process.execPath, typeScript("examples/tour/main.ts", ...args), {
		cwd: root,
		input: commands,
		encoding: "utf8",
	});
}

describe("npm start", () => {
	it("carries out the commands that come through a pipe, quoted values too, and ends", () => {
		const commands = [
			"call self.screen.set_theme theme=dark",
			'call self.camera.take_photo question="What is this?"',
			"",
			"quit",
			"call self.reboot",
		];
		const { status, stdout } = start(`${commands.join("\n")}\n`, "--transport", "websocket", "--engine", "v8");
		assert.match(stdout, /set_theme \{"theme":"dark"\}\n +true\n/);
		assert.match(stdout, /take_photo \{"question":"What is this\?"\}\n/);
		assert.doesNotMatch(stdout, /self_reboot \{\}/);
		assert.equal(status, 0);
	});
});
