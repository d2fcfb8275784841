import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { bundle, chooseEngine } from "../../virtual-device/src/index.js";

// The same suites, and the same modules under test, on the engine of the chip.

const script = await bundle(fileURLToPath(new URL("main.ts", import.meta.url)));
const { start, whyNotXs } = await chooseEngine("xs");

if (whyNotXs !== undefined) {
	it("on XS", { skip: `XS cannot be built here: ${whyNotXs}` }, () => {});
} else {
	const engine = await start({ timeoutMs: Number.POSITIVE_INFINITY });
	await engine.run("globalThis.hostConfig={config:{},settings:{},macAddress:''}");
	const [announcement] = await engine.run(script);
	const suites = announcement?.header[1] as [name: string, titles: string[]][];
	describe(`on ${engine.name}`, () => {
		after(() => engine.close());
		for (const [suite, titles] of suites) {
			describe(suite, () => {
				for (const title of titles) {
					it(title, async () => {
						const replies = await engine.deliver([{ header: ["test.run", suite, title] }]);
						const result = replies.find(({ header }) => String(header[0]).startsWith("test."));
						assert.equal(
							result?.header[0],
							"test.passed",
							String(result?.header[1] ?? "no result: a promise never settled"),
						);
					});
				}
			});
		}
	});
}
