import { readFileSync } from "node:fs";
import { transformSync } from "esbuild";
import ts from "typescript";

/** An import or export of another module. */
export interface Import {
	readonly from: string;
	/** Empty for all of it, or nothing. */
	readonly names: readonly string[];
}

/** Reads what a module imports at runtime. */
export function readImports(path: string): Import[] {
	const { code } = transformSync(readFileSync(path, "utf8"), {
		loader: "ts",
		tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
	});
	return [...code.matchAll(/^(?:import|export)\b([^"';=]*?\bfrom|) *"([^"]+)";$/gm)].map(([, what = "", from = ""]) => {
		const [, list = ""] = /\{([^}]*)\}/.exec(what) ?? [];
		return { from, names: list.split(",").flatMap((each) => each.trim().split(/\s/)[0] || []) };
	});
}

/**
 * Finds what keeps a module out of flash, where all is constant: state at its top level, or work that is done there.
 *
 * @param source TypeScript
 * @param pure the module whose functions may be called there
 * @returns "line 4: const seen = new Map();"; or undefined if the module keeps no state
 */
export function findState(source: string, pure: string): string | undefined {
	const file = ts.createSourceFile("module.ts", source, ts.ScriptTarget.ES2022, true);
	const functions = new Set(file.statements.flatMap((statement) => importedNames(statement, pure)));
	const found = file.statements.find((statement) => !isConstantStatement(statement, functions));
	if (found === undefined) {
		return undefined;
	}
	const { line } = file.getLineAndCharacterOfPosition(found.getStart());
	return `line ${line + 1}: ${found.getText().split("\n")[0]}`;
}

/** Names of functions that may be called at the top level. */
type Functions = ReadonlySet<string>;

function importedNames(statement: ts.Statement, module: string): string[] {
	if (!ts.isImportDeclaration(statement) || (statement.moduleSpecifier as ts.StringLiteral).text !== module) {
		return [];
	}
	const bindings = statement.importClause?.namedBindings;
	return bindings !== undefined && ts.isNamedImports(bindings) ? bindings.elements.map(({ name }) => name.text) : [];
}

function isConstantStatement(statement: ts.Statement, functions: Functions): boolean {
	if (ts.isVariableStatement(statement)) {
		const { flags, declarations } = statement.declarationList;
		return (
			Boolean(flags & ts.NodeFlags.Const) &&
			declarations.every(({ initializer }) => initializer !== undefined && isConstant(initializer, functions))
		);
	}
	if (ts.isExportAssignment(statement)) {
		return isConstant(statement.expression, functions);
	}
	if (ts.isClassDeclaration(statement)) {
		return !statement.members.some(isStatic);
	}
	return (
		ts.isImportDeclaration(statement) ||
		ts.isExportDeclaration(statement) ||
		ts.isFunctionDeclaration(statement) ||
		ts.isInterfaceDeclaration(statement) ||
		ts.isTypeAliasDeclaration(statement) ||
		ts.isModuleDeclaration(statement)
	);
}

/** Whether a member of a class has a value of the class, or a block that runs at once. */
function isStatic(member: ts.ClassElement): boolean {
	const modifiers = ts.canHaveModifiers(member) ? ts.getModifiers(member) : undefined;
	const isOfClass = modifiers?.some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword) ?? false;
	return ts.isClassStaticBlockDeclaration(member) || (isOfClass && ts.isPropertyDeclaration(member));
}

/** Literals of these kinds, and functions, are constant. A regular expression is not safe in flash. */
const CONSTANT: readonly ts.SyntaxKind[] = [
	ts.SyntaxKind.ArrowFunction,
	ts.SyntaxKind.FalseKeyword,
	ts.SyntaxKind.FunctionExpression,
	ts.SyntaxKind.Identifier,
	ts.SyntaxKind.NoSubstitutionTemplateLiteral,
	ts.SyntaxKind.NullKeyword,
	ts.SyntaxKind.NumericLiteral,
	ts.SyntaxKind.StringLiteral,
	ts.SyntaxKind.TrueKeyword,
];

function isConstant(node: ts.Expression, functions: Functions): boolean {
	if (ts.isCallExpression(node)) {
		return functions.has(node.expression.getText()) && node.arguments.every((each) => isArgument(each, functions));
	}
	if (ts.isTemplateExpression(node)) {
		return node.templateSpans.every(({ expression }) => isConstant(expression, functions));
	}
	if (ts.isBinaryExpression(node)) {
		return isConstant(node.left, functions) && isConstant(node.right, functions);
	}
	if (ts.isPrefixUnaryExpression(node)) {
		return isConstant(node.operand, functions);
	}
	if (ts.isAsExpression(node) || ts.isSatisfiesExpression(node) || ts.isPropertyAccessExpression(node)) {
		return isConstant(node.expression, functions);
	}
	return CONSTANT.includes(node.kind);
}

/**
 * Whether an argument of these functions is constant. Only there an object may be: XS writes no JSON of one in flash, and a
 * tool may return it.
 */
function isArgument(node: ts.Expression, functions: Functions): boolean {
	if (ts.isArrayLiteralExpression(node)) {
		return node.elements.every((each) => isArgument(each, functions));
	}
	if (ts.isObjectLiteralExpression(node)) {
		return node.properties.every(
			(member) =>
				ts.isMethodDeclaration(member) ||
				ts.isShorthandPropertyAssignment(member) ||
				(ts.isPropertyAssignment(member) && isArgument(member.initializer, functions)),
		);
	}
	return isConstant(node, functions);
}
