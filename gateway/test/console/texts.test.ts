import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { LABELS } from "../../console/src/texts/labels.js";
import { SENTENCES } from "../../console/src/texts/sentences.js";

const SOURCES = fileURLToPath(new URL("../../console/src/", import.meta.url));

const TEXTS = { ...LABELS, ...SENTENCES };

const namesIn = (text: string): string[] => (text.match(/\{[a-z]+\}/g) ?? []).sort();

describe("the console's texts", () => {
	it("have the same names in braces in every language, and one place each", () => {
		for (const [key, [en, ...others]] of Object.entries(TEXTS)) {
			for (const text of others) {
				assert.notEqual(text.trim(), "", key);
				assert.deepEqual(namesIn(text), namesIn(en), key);
			}
		}
		assert.equal(Object.keys(TEXTS).length, Object.keys(LABELS).length + Object.keys(SENTENCES).length);
	});

	it("are all used", () => {
		const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));
		const code = files
			.filter((name) => !/^texts.(labels|sentences)\.ts$/.test(name))
			.map((name) => readFileSync(SOURCES + name, "utf8"))
			.join("\n");
		// "filter_all" is put together from "filter_" and a word.
		const isUsed = (key: string): boolean =>
			code.includes(`"${key}"`) || (key.includes("_") && code.includes(`\`${key.slice(0, key.indexOf("_") + 1)}$`));
		const unused = Object.keys(TEXTS).filter((key) => !isUsed(key));
		assert.deepEqual(unused, []);
	});
});
