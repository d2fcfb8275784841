import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { GATEWAY_INFO } from "../src/version.js";

it("the gateway calls itself what its package is called; the sources have no version, so that npm does not pack them", () => {
	const { name, version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
	assert.deepEqual([GATEWAY_INFO.name, version], [name, undefined]);
});
