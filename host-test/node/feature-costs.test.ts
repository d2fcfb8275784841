import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { bundleCost, type Cost, weigh, whyNotXs } from "./feature-costs.js";

/** What a server and its session took at commit 3e2ae86, which had no features yet. */
const BEFORE = { slots: 137, chunkBytes: 872 };

/** The figures may be so much larger than the document says, and have to be written down again beyond that. */
const TOLERANCE = 1.15;

const document = readFileSync(fileURLToPath(new URL("../../docs/beyond-tools.md", import.meta.url)), "utf8");

/** The rows of the document's table: a feature and its four figures. */
const rows = [...document.matchAll(/^\| `(\w+)` \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$/gm)].map(
	([, name, ...figures]) => ({ name: name as string, figures: figures.map((each) => Number(each.replace(",", ""))) }),
);

function figuresOf({ loaded, made }: Cost): number[] {
	return [loaded.slots, loaded.chunkBytes, made.slots, made.chunkBytes];
}

it("firmware that imports no feature has none of their code", async () => {
	const script = await bundleCost("none");
	for (const method of ["resources/", "prompts/", "completion/", "logging/", "notifications/message", "uriTemplate"]) {
		assert.ok(!script.includes(method), method);
	}
});

describe("on a 32-bit XS", {
	skip: whyNotXs !== undefined && `no 32-bit XS: ${whyNotXs.split("\n")[0]}`,
	timeout: 60_000,
}, () => {
	it("a server without features takes no more of the heap than it did before there were features", async () => {
		const { made } = await weigh("none");
		assert.ok(made.slots <= BEFORE.slots, `${made.slots} slots`);
		assert.ok(made.chunkBytes <= BEFORE.chunkBytes, `${made.chunkBytes} chunk bytes`);
	});

	it("each feature costs what docs/beyond-tools.md says", async () => {
		const none = figuresOf(await weigh("none"));
		assert.equal(rows.length, 8);
		for (const { name, figures } of rows) {
			const weighed = figuresOf(await weigh(name)).map((figure, at) => figure - (none[at] as number));
			for (const [at, figure] of weighed.entries()) {
				assert.ok(
					figure <= (figures[at] as number) * TOLERANCE + 2,
					`${name}: ${weighed} where the document has ${figures}`,
				);
			}
		}
	});
});
