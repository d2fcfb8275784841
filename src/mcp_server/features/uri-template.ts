/** A URI template, taken apart: the text before, between and after its variables. Plain data, for a chip's flash. */
export interface UriTemplate {
	/** One more than there are variables. */
	readonly literals: readonly string[];
	readonly variables: readonly string[];
}

/** The values of a template's variables, by name. */
export type TemplateValues<Uri extends string> = Uri extends `${string}{${infer Name}}${infer Rest}`
	? { readonly [K in Name]: string } & TemplateValues<Rest>
	: unknown;

/**
 * Takes a template apart. Only the simple form `{name}` of RFC 6570 (level 1) is supported: it matches one segment of a
 * URI, without a slash.
 *
 * @returns undefined if it has no variables
 * @throws TypeError for another form, or for two variables without text between them
 */
export const parseTemplate = (uri: string): UriTemplate | undefined => {
	const pieces = uri.split(/\{([^{}]*)\}/);
	const literals = pieces.filter((_, at) => at % 2 === 0);
	const variables = pieces.filter((_, at) => at % 2 === 1);
	const isAmbiguous = literals.slice(1, -1).includes("") || literals.some((text) => /[{}]/.test(text));
	if (isAmbiguous || !variables.every((name) => /^[A-Za-z0-9_]+$/.test(name))) {
		throw new TypeError(`URI template ${JSON.stringify(uri)}: expected variables such as {id}, with text between them`);
	}
	return variables.length > 0 ? { literals, variables } : undefined;
};

/** The values of a template's variables in a URI; undefined if it does not match. */
export const matchTemplate = (template: UriTemplate, uri: string): Readonly<Record<string, string>> | undefined => {
	const { literals, variables } = template;
	const [start = "", ...rest] = literals;
	if (!uri.startsWith(start)) {
		return undefined;
	}
	const values: Record<string, string> = Object.create(null);
	let left = uri.slice(start.length);
	for (const [at, name] of variables.entries()) {
		const next = rest[at] as string;
		const isLast = at === variables.length - 1;
		const end = isLast ? left.length - next.length : left.indexOf(next);
		const value = end > 0 && left.startsWith(next, end) ? decode(left.slice(0, end)) : undefined;
		if (value === undefined) {
			return undefined;
		}
		values[name] = value;
		left = left.slice(end + next.length);
	}
	return values;
};

/** The value of a variable; undefined if the text cannot be one. */
const decode = (text: string): string | undefined => {
	try {
		return text.includes("/") ? undefined : decodeURIComponent(text);
	} catch {
		return undefined;
	}
};
