import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { readSteps } from "../support/guide.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Lines that a project needs for an MCP server with a tool, at most. */
const MAX_LINES = 24;

it("docs/embed.md shows examples/embed as it stands, in few lines", () => {
	const shown = readSteps("embed.md").filter(({ about }) => about !== "");
	assert.deepEqual(
		shown.map(({ about }) => about),
		["examples/embed/manifest.json", "examples/embed/thermostat.ts"],
	);
	for (const { about, text } of shown) {
		assert.equal(text, readFileSync(`${ROOT}${about}`, "utf8"), about);
	}
	assert.ok((shown[1]?.text.split("\n").length ?? 0) <= MAX_LINES, "lines");
});
