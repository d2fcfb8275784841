import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";

const SOURCES = fileURLToPath(new URL("../src/", import.meta.url));

for (const [what, folder, modules] of [
	[
		"a gateway alone loads neither NATS nor the modules of the cluster",
		"cluster/",
		/\/cluster\/(?!plugin\.js)|"@nats-io/,
	],
	["a program with a gateway in it loads nothing of the command line", "cli/", /\/cli\/|"commander"/],
] as const) {
	it(what, () => {
		const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" });
		const others = files.filter((name) => name.endsWith(".ts") && !name.startsWith(folder));
		assert.ok(others.includes("gateway.ts"));
		const loaded = others.flatMap((name) =>
			readFileSync(SOURCES + name, "utf8")
				.split("\n")
				.filter((line) => /^(import (?!type )|} from)/.test(line) && modules.test(line))
				.map((line) => `${name}: ${line}`),
		);
		assert.deepEqual(loaded, []);
	});
}
