import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { sourcesIn } from "../../../host-test/support/imports.js";

const SOURCES = fileURLToPath(new URL("../../src/", import.meta.url));

it("a gateway alone loads neither NATS nor the modules of the cluster", () => {
	const others = sourcesIn(SOURCES.slice(0, -1)).filter((name) => !name.startsWith("cluster/"));
	assert.ok(others.includes("program.ts"));
	const loaded = others.flatMap((name) =>
		readFileSync(SOURCES + name, "utf8")
			.split("\n")
			.filter((line) => /^import (?!type ).*from ".*(?:\/cluster\/|@nats-io)/.test(line))
			.map((line) => `${name}: ${line}`),
	);
	assert.deepEqual(loaded, []);
});
