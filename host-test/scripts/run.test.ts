import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { ROOT } from "../../toolchain/root.js";
import { temporaryFolder } from "../support/temporary-folder.js";

it("scripts/run.mjs runs TypeScript in a folder with a space, a non-ASCII letter, # and %", () => {
	const folder = join(temporaryFolder(), "mein Gerät 日 #1 %20");
	mkdirSync(folder);
	for (const path of ["package.json", "package-lock.json", "tsconfig.json", "tsconfig.node.json", "scripts"]) {
		cpSync(join(ROOT, path), join(folder, path), { recursive: true });
	}
	symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
	writeFileSync(join(folder, "hello.ts"), 'const text: string = "runs";\nconsole.log(text);\n');
	const { stdout, stderr } = spawnSync(process.execPath, ["scripts/run.mjs", "hello.ts"], {
		cwd: folder,
		encoding: "utf8",
		// The loader of this process has set it.
		env: { ...process.env, TS_NODE_PROJECT: undefined },
	});
	assert.equal(stdout, "runs\n", stderr);
});
