import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const TYPEDOC = `${ROOT}node_modules/typedoc/bin/typedoc`;

describe("the API reference (npm run docs:api)", () => {
	it("has a comment for each class, type, function and method, and no broken link in them", () => {
		const { status, stdout, stderr } = spawnSync(process.execPath, [TYPEDOC, "--skipErrorChecking", "--emit", "none"], {
			cwd: ROOT,
			encoding: "utf8",
		});
		assert.equal(status, 0, stdout + stderr);
	});
});
