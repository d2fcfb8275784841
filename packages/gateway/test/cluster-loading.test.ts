import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";

const SOURCES = fileURLToPath(new URL("../src/", import.meta.url));

it("a gateway alone loads neither NATS nor the modules of the cluster", () => {
	const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" });
	const others = files.filter((name) => name.endsWith(".ts") && !name.startsWith("cluster/"));
	assert.ok(others.includes("gateway.ts"));
	const loaded = others.flatMap((name) =>
		readFileSync(SOURCES + name, "utf8")
			.split("\n")
			.filter((line) => /^import (?!type ).*from ".*(?:\/cluster\/(?!plugin\.js)|@nats-io)/.test(line))
			.map((line) => `${name}: ${line}`),
	);
	assert.deepEqual(loaded, []);
});
