import { evaluate, type IdentifierNode, iterator, parse, type StringNode, type ValueNode } from "@humanwhocodes/momoa";
import { isMap, LineCounter, type Node, parseDocument } from "yaml";

/** Names of members and indices of items, from the top of a file. */
export type Path = readonly (string | number)[];

/** The value that a file has, and where its parts are. */
interface ParsedFile {
	readonly content: unknown;
	/** The line of a part; undefined if it is not in the file. */
	readonly lineOf: (path: Path) => number | undefined;
	readonly scalarAt: (path: Path) => unknown;
}

/** A file cannot be parsed. */
export class SyntaxProblem extends Error {
	readonly line: number;

	constructor(message: string, line: number) {
		super(message);
		this.line = line;
	}
}

/**
 * Parses a file as JSON with comments if it starts like that, and as YAML otherwise: a YAML parser would read a JSON comment as
 * part of a member's name.
 *
 * @throws SyntaxProblem
 */
export function parseFile(text: string, file: string): ParsedFile {
	const isJson = !/\.ya?ml$/i.test(file) && /^\s*(?:[{[]|\/[/*])/.test(text);
	return isJson ? parseJson(text.replace(/^\uFEFF/, " ")) : parseYaml(text);
}

function parseJson(text: string): ParsedFile {
	const { body } = parseJsonText(text);
	for (const { node } of iterator(body)) {
		expectDifferentNames(node as ValueNode);
	}
	const at = (path: Path): ValueNode | undefined => path.reduce<ValueNode | undefined>(childOf, body);
	return {
		content: evaluate(body),
		lineOf: (path) => at(path)?.loc.start.line,
		scalarAt: (path) => {
			const node = at(path);
			return node?.type === "String" || node?.type === "Number" ? node.value : undefined;
		},
	};
}

function parseJsonText(text: string) {
	try {
		return parse(text, { mode: "jsonc", allowTrailingCommas: true });
	} catch (error) {
		const { line = 1, offset = 0, message } = error as { line?: number; offset?: number; message: string };
		if (message.includes("end of input")) {
			throw new SyntaxProblem("invalid JSON: unexpected end of file", text.split("\n").length);
		}
		const [token = ""] = TOKEN.exec(text.slice(offset)) ?? [];
		throw new SyntaxProblem(`invalid JSON: unexpected ${token.slice(0, MAX_QUOTE)}`, line);
	}
}

const MAX_QUOTE = 30;

/** A whole string or word, or else a single character. */
const TOKEN = /^(?:"[^"\n]*"?|[\w.-]+|.)/;

/** @throws SyntaxProblem if a member of an object comes twice: which of them is meant is not certain */
function expectDifferentNames(node: ValueNode): void {
	const names = new Set<string>();
	for (const { name, loc } of node.type === "Object" ? node.members : []) {
		const text = nameOf(name);
		if (names.has(text)) {
			throw new SyntaxProblem(`invalid JSON: duplicate member ${JSON.stringify(text)}`, loc.start.line);
		}
		names.add(text);
	}
}

function childOf(node: ValueNode | undefined, part: string | number): ValueNode | undefined {
	if (node?.type === "Object") {
		return node.members.find(({ name }) => nameOf(name) === `${part}`)?.value;
	}
	return node?.type === "Array" ? node.elements[Number(part)]?.value : undefined;
}

function nameOf(name: StringNode | IdentifierNode): string {
	return name.type === "String" ? name.value : name.name;
}

function parseYaml(text: string): ParsedFile {
	const lineCounter = new LineCounter();
	const document = parseDocument(text, { lineCounter, prettyErrors: false });
	const [error] = document.errors;
	if (error !== undefined) {
		throw new SyntaxProblem(`invalid YAML: ${error.message}`, lineCounter.linePos(error.pos[0]).line);
	}
	return {
		content: document.toJS({ maxAliasCount: 100 }),
		lineOf: (path) => {
			const { range } = (document.getIn(path, true) as Node | undefined) ?? {};
			return range ? lineCounter.linePos(range[0]).line : undefined;
		},
		scalarAt: (path) => {
			const node = document.getIn(path);
			return isMap(node) ? undefined : node;
		},
	};
}
