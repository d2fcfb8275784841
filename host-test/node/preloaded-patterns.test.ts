import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const SOURCE = fileURLToPath(new URL("../../src/", import.meta.url));

/** Regular expressions that are made when a module is loaded, each with its line. */
function patternsOf(file: ts.SourceFile): string[] {
	const found: string[] = [];
	const visit = (node: ts.Node): void => {
		if (ts.isFunctionLike(node)) {
			return;
		}
		const isMade = ts.isNewExpression(node) && node.expression.getText() === "RegExp";
		if (ts.isRegularExpressionLiteral(node) || isMade) {
			found.push(`${file.fileName}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`);
		}
		ts.forEachChild(node, visit);
	};
	visit(file);
	return found;
}

function parse(name: string, text: string): ts.SourceFile {
	return ts.createSourceFile(name, text, ts.ScriptTarget.ES2022, true);
}

it("no module of the firmware keeps a regular expression: a preloaded one corrupts the SDK's memory", () => {
	const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter((name) => /(?<!\.d)\.ts$/.test(name));
	assert.ok(files.length > 100);
	assert.deepEqual(
		files.flatMap((name) => patternsOf(parse(name, readFileSync(SOURCE + name, "utf8")))),
		[],
	);
});

it("a regular expression at the top of a module is found, one in a function is not", () => {
	assert.deepEqual(patternsOf(parse("a.ts", 'const A = /a/;\nconst B = { b: new RegExp("b") };')), [
		"a.ts:1",
		"a.ts:2",
	]);
	assert.deepEqual(patternsOf(parse("a.ts", "const a = () => /a/;\nclass A { b() { return /b/; } }")), []);
});
