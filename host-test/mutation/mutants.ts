import ts from "typescript";

/** A change of a source that a good test notices. */
export interface Mutant {
	readonly line: number;
	/** What was there and what is there now, for people. */
	readonly change: string;
	/** The whole source with the change. */
	readonly source: string;
}

/** Operators and what each becomes. */
const OPERATORS: Readonly<Record<string, string>> = {
	"===": "!==",
	"!==": "===",
	"<": "<=",
	"<=": "<",
	">": ">=",
	">=": ">",
	"&&": "||",
	"||": "&&",
	"+": "-",
	"-": "+",
	"*": "+",
	"+=": "-=",
	"-=": "+=",
};

interface Edit {
	readonly start: number;
	readonly end: number;
	readonly text: string;
}

/** Every mutant of a TypeScript source: other operators, negated conditions, other literals, calls left out. */
export function mutantsOf(source: string): Mutant[] {
	const file = ts.createSourceFile("source.ts", source, ts.ScriptTarget.ES2022, true);
	const edits: Edit[] = [];
	const visit = (node: ts.Node): void => {
		if (!ts.isTypeNode(node) && !ts.isInterfaceDeclaration(node) && !ts.isImportDeclaration(node)) {
			edits.push(...editsOf(node));
			ts.forEachChild(node, visit);
		}
	};
	visit(file);
	return edits.map(({ start, end, text }) => ({
		line: file.getLineAndCharacterOfPosition(start).line + 1,
		change: `${source.slice(start, end).replace(/\s+/g, " ").slice(0, 60)} → ${text || "nothing"}`,
		source: source.slice(0, start) + text + source.slice(end),
	}));
}

function editsOf(node: ts.Node): Edit[] {
	if (ts.isBinaryExpression(node)) {
		const token = node.operatorToken;
		const other = OPERATORS[token.getText()];
		return other === undefined ? [] : [{ start: token.getStart(), end: token.getEnd(), text: other }];
	}
	if (ts.isIfStatement(node)) {
		const { expression } = node;
		return ["true", "false"].map((text) => ({ start: expression.getStart(), end: expression.getEnd(), text }));
	}
	if (node.kind === ts.SyntaxKind.TrueKeyword || node.kind === ts.SyntaxKind.FalseKeyword) {
		const text = node.kind === ts.SyntaxKind.TrueKeyword ? "false" : "true";
		return [{ start: node.getStart(), end: node.getEnd(), text }];
	}
	if (ts.isNumericLiteral(node) && !isNamedConstant(node)) {
		return [{ start: node.getStart(), end: node.getEnd(), text: String(Number(node.text) + 1) }];
	}
	if (ts.isExpressionStatement(node) && ts.isCallExpression(node.expression) && !isUnnoticed(node.expression)) {
		return [{ start: node.getStart(), end: node.getEnd(), text: "" }];
	}
	return [];
}

/** A limit or time with a name, which a test reads or has no opinion on. */
function isNamedConstant(node: ts.Node): boolean {
	for (let parent: ts.Node | undefined = node.parent; parent !== undefined; parent = parent.parent) {
		if (ts.isVariableStatement(parent)) {
			return ts.isSourceFile(parent.parent);
		}
	}
	return false;
}

/** Calls that no test could miss: a timer that need not keep the process alive, the parent's constructor. */
function isUnnoticed({ expression }: ts.CallExpression): boolean {
	return (
		expression.kind === ts.SyntaxKind.SuperKeyword ||
		(ts.isPropertyAccessExpression(expression) && expression.name.text === "unref")
	);
}
