import type { CallDetails } from "xs-mcp-manager/core";

/** Characters of a call's arguments, and of what came back, that are kept. */
const MAX_ARGUMENTS = 500;
const MAX_ANSWER = 200;

/** Characters of one string among the arguments. */
const MAX_STRING = 200;

/** Names of arguments that are always secrets, even if the schema does not say so. */
const SECRET_NAME = /pass(word|phrase|code)?$|secret|token|api_?key|credential|authorization/i;

/** Query parameters of URLs that are secrets: the key of a firmware download. */
const SECRET_PARAMETER = /([?&](?:key|token|secret|password|signature|sig|code)=)[^&#\s"':,;)<>]+/gi;

const HIDDEN = "•••";

/** The arguments of a call as JSON, cut, without those that are secrets by their name or schema. */
export function argumentsText({ args, tool }: Pick<CallDetails, "args" | "tool">): string {
	const properties = (tool.inputSchema.properties ?? {}) as Record<string, { format?: unknown; writeOnly?: unknown }>;
	const isSecret = (name: string): boolean =>
		SECRET_NAME.test(name) || properties[name]?.format === "password" || properties[name]?.writeOnly === true;
	const shown = (name: string, value: unknown): unknown => {
		if (name !== "" && isSecret(name)) {
			return HIDDEN;
		}
		return typeof value === "string" ? cut(withoutKeys(value), MAX_STRING) : value;
	};
	return cut(JSON.stringify(args, shown), MAX_ARGUMENTS);
}

/** The result in words: texts, and kinds of pictures and sound; empty without a result. */
export function answerText({ result }: Pick<CallDetails, "result">): string {
	const parts = (result?.content ?? []).map((block) => {
		if (block.type === "text") {
			return cut(withoutKeys(block.text), MAX_ANSWER);
		}
		return "mimeType" in block && typeof block.mimeType === "string" ? `[${block.mimeType}]` : `[${block.type}]`;
	});
	return cut(parts.join(" "), MAX_ANSWER);
}

/** Hides the secrets in URLs of a text. */
function withoutKeys(text: string): string {
	return text.replace(SECRET_PARAMETER, `$1${HIDDEN}`);
}

function cut(text: string, length: number): string {
	return text.length > length ? `${text.slice(0, length)}…` : text;
}
