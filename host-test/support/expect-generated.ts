import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "xs-mcp/root";

const HINT = "UPDATE=1 npm test -- FILE writes it";

/** Compares a generated file with its expected content. With UPDATE=1 in the environment the file is written. */
export function expectGenerated(path: string, text: string): void {
	const file = join(ROOT, path);
	if (process.env.UPDATE === "1") {
		writeFileSync(file, text);
	}
	assert.equal(readFileSync(file, "utf8"), text, `${path}: ${HINT}`);
}

/** Compares the part of a document between `<!-- NAME -->` and `<!-- end -->`, as {@link expectGenerated} does. */
export function expectSection(path: string, name: string, lines: readonly string[]): void {
	const text = readFileSync(join(ROOT, path), "utf8");
	const start = `<!-- ${name} -->\n`;
	const from = text.indexOf(start) + start.length;
	const to = text.indexOf("<!-- end -->", from);
	assert.ok(text.includes(start) && to > 0, `${path}: expected <!-- ${name} --> and <!-- end -->`);
	expectGenerated(path, `${text.slice(0, from)}${lines.join("\n")}\n${text.slice(to)}`);
}
