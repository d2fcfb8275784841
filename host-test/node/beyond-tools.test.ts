import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { readSteps } from "../support/guide.js";

const EXAMPLES = "examples/beyond-tools/";
const ROOT = fileURLToPath(new URL("../../", import.meta.url));

it("docs/beyond-tools.md shows every example as it stands in examples/beyond-tools, which the suites run", () => {
	const shown = readSteps("beyond-tools.md").filter(({ kind }) => kind === "ts");
	assert.deepEqual(
		shown.map(({ about }) => about).sort(),
		readdirSync(`${ROOT}${EXAMPLES}`).map((name) => `${EXAMPLES}${name}`),
	);
	for (const { about, text } of shown) {
		assert.equal(text, readFileSync(`${ROOT}${about}`, "utf8"), about);
	}
});
