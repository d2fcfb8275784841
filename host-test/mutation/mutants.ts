import ts from "typescript";

/** A change of a source that a good test notices. */
export interface Mutant {
	readonly line: number;
	/** What was there and what is there now, for people. */
	readonly change: string;
	/** Where the expression that changes is in the source. */
	readonly start: number;
	readonly end: number;
	/** What the expression becomes. */
	readonly text: string;
}

/** A mutant that runs where `isMutant(id)` is true. */
export interface SwitchedMutant extends Mutant {
	readonly id: number;
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

/** A call that is left out. */
const NOTHING = "undefined";

/** Every mutant of a TypeScript source: other operators, negated conditions, other literals, calls left out. */
export function mutantsOf(source: string): Mutant[] {
	const file = ts.createSourceFile("source.ts", source, ts.ScriptTarget.ES2022, true);
	const mutants: Mutant[] = [];
	const add = (node: ts.Node, text: string, shown: ts.Node = node, other = text): void => {
		const [start, end] = [node.getStart(), node.getEnd()];
		const line = file.getLineAndCharacterOfPosition(shown.getStart()).line + 1;
		mutants.push({
			line,
			change: `${shown.getText().replace(/\s+/g, " ").slice(0, 60)} → ${other}`,
			start,
			end,
			text,
		});
	};
	const visit = (node: ts.Node): void => {
		if (!ts.isTypeNode(node) && !ts.isInterfaceDeclaration(node) && !ts.isImportDeclaration(node)) {
			addMutants(node, add);
			ts.forEachChild(node, visit);
		}
	};
	visit(file);
	return mutants;
}

/** A source in which each mutant is beside what it changes, and `isMutant(id)` says which one runs. */
export function withMutants(source: string, mutants: readonly SwitchedMutant[]): string {
	// An expression comes before those in it.
	const rest = [...mutants].sort((a, b) => a.start - b.start || b.end - a.end);
	const write = (start: number, end: number): string => {
		let [text, position] = ["", start];
		for (let mutant = rest[0]; mutant !== undefined && mutant.end <= end; mutant = rest[0]) {
			rest.shift();
			text += `${source.slice(position, mutant.start)}(isMutant(${mutant.id}) ? (${mutant.text}) : (`;
			text += `${write(mutant.start, mutant.end)}))`;
			position = mutant.end;
		}
		return text + source.slice(position, end);
	};
	return write(0, source.length);
}

type Add = (node: ts.Node, text: string, shown?: ts.Node, other?: string) => void;

function addMutants(node: ts.Node, add: Add): void {
	if (ts.isBinaryExpression(node)) {
		const { left, operatorToken, right } = node;
		const other = OPERATORS[operatorToken.getText()];
		if (other !== undefined) {
			add(node, `${left.getText()} ${other} ${right.getText()}`, operatorToken, other);
		}
	} else if (ts.isIfStatement(node)) {
		add(node.expression, "true");
		add(node.expression, "false");
	} else if (node.kind === ts.SyntaxKind.TrueKeyword) {
		add(node, "false");
	} else if (node.kind === ts.SyntaxKind.FalseKeyword) {
		add(node, "true");
	} else if (ts.isNumericLiteral(node) && !isMemberName(node) && !isNamedConstant(node)) {
		add(node, String(Number(node.text) + 1));
	} else if (ts.isExpressionStatement(node) && ts.isCallExpression(node.expression) && !isUnnoticed(node.expression)) {
		add(node.expression, NOTHING, node, "nothing");
	}
}

function isMemberName(node: ts.Node): boolean {
	return ts.isPropertyAssignment(node.parent) && node.parent.name === node;
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
