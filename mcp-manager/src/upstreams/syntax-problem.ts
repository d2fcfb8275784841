import type { YAMLParseError } from "yaml";

/** Characters of the file that are quoted. */
const MAX_QUOTE = 30;

/** A whole string or word, or else a single character. */
const TOKEN = /^(?:"[^"\n]*"?|[\w.-]+|.)/;

/**
 * Says what is wrong with the syntax of a file, in the words of its format: JSON is read by the parser of YAML.
 *
 * @param text the whole file
 */
export function syntaxProblem(text: string, { code, message, pos: [offset] }: YAMLParseError): string {
	if (!/^\s*[{[]/.test(text)) {
		return `invalid YAML: ${message}`;
	}
	const [token] = TOKEN.exec(text.slice(offset).trimStart()) ?? [];
	if (token === undefined) {
		return "invalid JSON: unexpected end of file";
	}
	const quoted = token.slice(0, MAX_QUOTE);
	return `invalid JSON: ${code === "DUPLICATE_KEY" ? "duplicate member" : "unexpected"} ${quoted}`;
}
