import ts from "typescript";

/**
 * Makes ordinary members of a module's private ones (`#count` becomes `_a`). XS keeps the name of each private member in a closure
 * of each method that uses it, 16 bytes of a chip's flash, and each private method in each instance. TypeScript has
 * checked who may use them.
 *
 * Classes without a base class share short names. A class with one has names of its own, because the base class may have the
 * others.
 *
 * @param source TypeScript
 */
export function makePlainMembers(source: string): string {
	const file = ts.createSourceFile("module.ts", source, ts.ScriptTarget.ES2022, true);
	let plain = "";
	let end = 0;
	const rename = (node: ts.Node, names: Names): void => {
		if (ts.isClassLike(node)) {
			ts.forEachChild(node, (child) => rename(child, new Map([...names, ...nameMembers(node)])));
		} else if (ts.isPrivateIdentifier(node)) {
			const name = names.get(node.text) ?? node.text;
			// `#count in object`
			const isKey = ts.isBinaryExpression(node.parent);
			plain += source.slice(end, node.getStart()) + (isKey ? `"${name}"` : name);
			end = node.end;
		} else {
			ts.forEachChild(node, (child) => rename(child, names));
		}
	};
	rename(file, new Map());
	return plain + source.slice(end);
}

/** Short names of private members. */
type Names = ReadonlyMap<string, string>;

function nameMembers(node: ts.ClassLikeDeclaration): Names {
	const isDerived = node.heritageClauses?.some(({ token }) => token === ts.SyntaxKind.ExtendsKeyword) ?? false;
	const names = new Map<string, string>();
	for (const { name } of node.members) {
		if (name !== undefined && ts.isPrivateIdentifier(name) && !names.has(name.text)) {
			names.set(name.text, `_${isDerived ? node.name?.text : ""}${letters(names.size)}`);
		}
	}
	return names;
}

/** a, b, …, z, aa, ab, … */
function letters(count: number): string {
	const last = String.fromCharCode("a".charCodeAt(0) + (count % 26));
	return count < 26 ? last : letters(Math.floor(count / 26) - 1) + last;
}
