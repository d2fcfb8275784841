import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";

const SOURCES = fileURLToPath(new URL("../console/", import.meta.url));

const textsOf = (language: string): Record<string, string> =>
	JSON.parse(readFileSync(`${SOURCES}${language}.json`, "utf8"));

const EN = textsOf("en");

const namesIn = (text: string): string[] => (text.match(/\{[a-z]+\}/g) ?? []).sort();

for (const language of ["ja", "zh"]) {
	it(`has the console's texts in ${language}, each with the names in braces of the English one`, () => {
		const texts = textsOf(language);
		assert.deepEqual(Object.keys(texts), Object.keys(EN));
		for (const [key, text] of Object.entries(texts)) {
			assert.notEqual(text.trim(), "", key);
			assert.deepEqual(namesIn(text), namesIn(EN[key] ?? ""), key);
		}
	});
}

it("uses every text of the console", () => {
	const code = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
		.filter((name) => /\.tsx?$/.test(name))
		.map((name) => readFileSync(SOURCES + name, "utf8"))
		.join("\n");
	// "filter_all" is put together from "filter_" and a word.
	const isUsed = (key: string): boolean =>
		code.includes(`"${key}"`) || (key.includes("_") && code.includes(`\`${key.slice(0, key.indexOf("_") + 1)}$`));
	assert.deepEqual(
		Object.keys(EN).filter((key) => !isUsed(key)),
		[],
	);
});

it("has the titles of the firmware's tools in every language", () => {
	const folder = fileURLToPath(new URL("../../../src/", import.meta.url));
	const titles = readdirSync(folder, { recursive: true, encoding: "utf8" })
		.filter((name) => /^(tools|features)\/.*\.ts$/.test(name.replaceAll("\\", "/")))
		.flatMap((name) => /defineTool\(.*?\ttitle: "([^"]*)"/s.exec(readFileSync(folder + name, "utf8"))?.[1] ?? []);
	assert.ok(titles.length > 25, `${titles.length} titles`);
	for (const title of titles) {
		assert.equal(EN[`tool_${title.toLowerCase().replaceAll(/[^a-z]+/g, "_")}`], title);
	}
});
