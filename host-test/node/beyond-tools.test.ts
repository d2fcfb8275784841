import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { readSteps } from "../support/guide.js";
import { linksOf } from "../support/prose.js";

const EXAMPLES = "examples/beyond-tools/";
const ROOT = fileURLToPath(new URL("../../", import.meta.url));

it("docs/beyond-tools.md shows the examples as they stand in examples/beyond-tools, which the suites run, or links to them", () => {
	const shown = readSteps("beyond-tools.md").filter(({ kind }) => kind === "ts");
	const linked = linksOf(readFileSync(`${ROOT}docs/beyond-tools.md`, "utf8")).map((target) =>
		target.replace("../", ""),
	);
	assert.deepEqual(
		[...shown.map(({ about }) => about), ...linked.filter((target) => target.startsWith(EXAMPLES))].sort(),
		readdirSync(`${ROOT}${EXAMPLES}`).map((name) => `${EXAMPLES}${name}`),
	);
	for (const { about, text } of shown) {
		assert.equal(text, readFileSync(`${ROOT}${about}`, "utf8"), about);
	}
});
