import ts from "typescript";

/**
 * Makes arrow functions of the functions of a module. XS gives each function that could be a constructor a prototype: three slots,
 * 48 bytes of a chip's flash. The functions go to the top, because a constant cannot be used above its line. Left as they
 * are: generators, and functions that use `this` or `arguments` or are the default export.
 *
 * @param source TypeScript
 */
export function makeArrowFunctions(source: string): string {
	const file = ts.createSourceFile("module.ts", source, ts.ScriptTarget.ES2022, true);
	const moved: string[] = [];
	let rest = "";
	let end = 0;
	for (const statement of file.statements) {
		const arrow = arrowOf(statement, file);
		if (arrow !== undefined) {
			moved.push(arrow);
			rest += source.slice(end, statement.getStart());
			end = statement.end;
		}
	}
	return moved.length === 0 ? source : `${moved.join("\n")}\n${rest}${source.slice(end)}`;
}

/** Undefined if the statement is no such function. */
function arrowOf(statement: ts.Statement, file: ts.SourceFile): string | undefined {
	if (!ts.isFunctionDeclaration(statement)) {
		return undefined;
	}
	const { name, body, asteriskToken, modifiers = [], parameters } = statement;
	const has = (kind: ts.SyntaxKind): boolean => modifiers.some((modifier) => modifier.kind === kind);
	if (!name || !body || asteriskToken || has(ts.SyntaxKind.DefaultKeyword) || usesThis(statement)) {
		return undefined;
	}
	const written = parameters.map((parameter) => parameter.getText(file)).join(", ");
	const keywords = `${has(ts.SyntaxKind.ExportKeyword) ? "export " : ""}const ${name.text} = ${has(ts.SyntaxKind.AsyncKeyword) ? "async " : ""}`;
	return `${keywords}(${written}) => ${body.getText(file)};`;
}

function usesThis(node: ts.Node): boolean {
	if (node.kind === ts.SyntaxKind.ThisKeyword || (ts.isIdentifier(node) && node.text === "arguments")) {
		return true;
	}
	return ts.forEachChild(node, (child) => usesThis(child) || undefined) ?? false;
}
