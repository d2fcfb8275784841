import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { en, type TextKey, type Texts } from "../../console/src/texts/en.js";
import { ja } from "../../console/src/texts/ja.js";
import { zh } from "../../console/src/texts/zh.js";

const SOURCES = fileURLToPath(new URL("../../console/src/", import.meta.url));

const KEYS = Object.keys(en) as TextKey[];

const namesIn = (text: string): string[] => (text.match(/\{[a-z]+\}/g) ?? []).sort();

describe("the console's texts", () => {
	for (const [language, texts] of Object.entries<Texts>({ ja, zh })) {
		it(`are all there in ${language}, with the same names in braces`, () => {
			assert.deepEqual(Object.keys(texts).sort(), [...KEYS].sort());
			for (const key of KEYS) {
				assert.notEqual(texts[key].trim(), "", key);
				assert.deepEqual(namesIn(texts[key]), namesIn(en[key]), key);
			}
		});
	}

	it("are all used", () => {
		const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));
		const code = files
			.filter((name) => !/^texts.(en|ja|zh)\.ts$/.test(name))
			.map((name) => readFileSync(SOURCES + name, "utf8"))
			.join("\n");
		// "filter_all" is put together from "filter_" and a word.
		const isUsed = (key: string): boolean =>
			code.includes(`"${key}"`) || (key.includes("_") && code.includes(`\`${key.slice(0, key.indexOf("_") + 1)}$`));
		assert.deepEqual(
			KEYS.filter((key) => !isUsed(key)),
			[],
		);
	});
});
