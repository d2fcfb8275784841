// Syntax that the firmware avoids because XS gets it wrong.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const SOURCE = fileURLToPath(new URL("../../src/", import.meta.url));

/** Decides about a node: whether it is avoided, and whether the nodes in it are looked at. */
type Judge = (node: ts.Node) => { readonly isFound: boolean; readonly isEntered: boolean };

/** Regular expressions that are made when a module is loaded. */
const isPattern: Judge = (node) => ({
	isFound: ts.isRegularExpressionLiteral(node) || (ts.isNewExpression(node) && node.expression.getText() === "RegExp"),
	isEntered: !ts.isFunctionLike(node),
});

/** Uses of `super` in private methods and accessors. */
const isPrivateSuper: Judge = (node) => ({
	isFound: node.kind === ts.SyntaxKind.SuperKeyword && isInPrivate(node),
	isEntered: true,
});

function isInPrivate(node: ts.Node): boolean {
	const member = ts.findAncestor(node, ts.isClassElement);
	return member?.name !== undefined && ts.isPrivateIdentifier(member.name) && ts.isFunctionLike(member);
}

/** Findings in a file, each with its line. */
function find(judge: Judge, name: string, text: string): string[] {
	const file = ts.createSourceFile(name, text, ts.ScriptTarget.ES2022, true);
	const found: string[] = [];
	const visit = (node: ts.Node): void => {
		const { isFound, isEntered } = judge(node);
		if (isFound) {
			found.push(`${name}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`);
		}
		if (isEntered) {
			ts.forEachChild(node, visit);
		}
	};
	visit(file);
	return found;
}

function findInFirmware(judge: Judge): string[] {
	const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter((name) => /(?<!\.d)\.ts$/.test(name));
	assert.ok(files.length > 100);
	return files.flatMap((name) => find(judge, name, readFileSync(SOURCE + name, "utf8")));
}

describe("no module of the firmware", () => {
	it("keeps a regular expression: a preloaded one corrupts the SDK's memory", () => {
		assert.deepEqual(findInFirmware(isPattern), []);
	});

	it("uses super in a private method: XS takes the class itself for the base class, or throws if it is preloaded", () => {
		assert.deepEqual(findInFirmware(isPrivateSuper), []);
	});
});

it("a regular expression at the top of a module is found, one in a function is not", () => {
	assert.deepEqual(find(isPattern, "a.ts", 'const A = /a/;\nconst B = { b: new RegExp("b") };'), ["a.ts:1", "a.ts:2"]);
	assert.deepEqual(find(isPattern, "a.ts", "const a = () => /a/;\nclass A { b() { return /b/; } }"), []);
});

it("super in a private method or accessor is found, elsewhere it is not", () => {
	const inA = (member: string): string[] => find(isPrivateSuper, "a.ts", `class A extends B {\n${member}\n}`);
	assert.deepEqual(inA("#a() { return () => super.a(); }"), ["a.ts:2"]);
	assert.deepEqual(inA("get #a() { return super.a; }"), ["a.ts:2"]);
	assert.deepEqual(inA("a() { return super.a(); } #b = 1; constructor() { super(); }"), []);
});
