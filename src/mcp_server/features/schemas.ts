import type { Described, Schema, StringCheck, StringOptions } from "../schema.js";

// Schemas of strings beyond those that every firmware has. They are checked on the device.

/** Limit on the ways in which a pattern of bounded repetitions can match: more would take too long. */
const MAX_WAYS = 100;

const atomPattern = (): RegExp => /\\[dDwWsS^$\\.*+?()[\]{}|/-]|\[\^?(?:[^\]\\[]|\\.)+\]|[^\\()[\]{}|*+?^$]/;
const repeatPattern = (): RegExp => /\{(\d{1,3})(?:(,)(\d{0,3}))?\}|[*+?]/;
const piecePattern = (): RegExp => new RegExp(`(?:${atomPattern().source})(?:${repeatPattern().source})?`, "g");
const simplePattern = (): RegExp =>
	new RegExp(`^\\^(?:(?:${atomPattern().source})(?:${repeatPattern().source})?)*\\$$`);

/**
 * Text that matches a pattern from its start to its end. The pattern must be simple, so that checking takes time in
 * proportion to the text: characters, classes and `\d`, `\w`, `\s`, each with a repetition; no groups, no alternatives;
 * at most one `*` or `+`.
 *
 * @throws TypeError for any other pattern
 * @example
 * input: { plate: matching("^[A-Z]{1,3}-[0-9]{1,4}$", { description: "License plate" }) }
 */
export const matching = (pattern: string, options: StringOptions = {}): Schema<string> => {
	if (!simplePattern().test(pattern) || !isFast(pattern)) {
		throw new TypeError(
			`pattern ${JSON.stringify(pattern)}: expected ^…$ without groups and alternatives, with one * or + at most`,
		);
	}
	return { type: "string", pattern, ...options, check: checkBy(new RegExp(pattern), `text that matches ${pattern}`) };
};

const isFast = (pattern: string): boolean => {
	let unbounded = 0;
	let ways = 1;
	for (const [piece] of pattern.slice(1, -1).matchAll(piecePattern())) {
		const [repeat, least = "0", comma, most = ""] = repeatPattern().exec(piece.replace(atomPattern(), "")) ?? [];
		if (repeat === "*" || repeat === "+" || (comma !== undefined && most === "")) {
			unbounded += 1;
		} else if (repeat === "?") {
			ways *= 2;
		} else {
			ways *= Math.max(1, Number(most) - Number(least) + 1);
		}
	}
	return unbounded <= 1 && ways <= MAX_WAYS;
};

/**
 * One of several strings, each with a title to show.
 *
 * @example
 * input: { size: titledEnumeration({ s: "Small", l: "Large" }, { default: "s" }) }
 */
export const titledEnumeration = <const T extends string>(
	titles: Readonly<Record<T, string>>,
	options: Described<NoInfer<T>> = {},
): Schema<T> => {
	const values = Object.entries<string>(titles);
	const quoted = values.map(([value]) => JSON.stringify(value)).join(", ");
	return {
		type: "string",
		oneOf: values.map(([value, title]) => ({ const: value, title })),
		...options,
		// Not a lookup in `titles`: XS keeps each name that is looked up in an object.
		check: named((text) => values.some(([value]) => value === text), `one of ${quoted}`),
	};
};

/** An e-mail address, roughly: something, "@", something. */
export const email = (options: StringOptions = {}): Schema<string> =>
	formatted("email", /^[^@\s]+@[^@\s]+$/, "an e-mail address", options);

/** A URI with its scheme. */
export const uri = (options: StringOptions = {}): Schema<string> =>
	formatted("uri", /^[A-Za-z][A-Za-z0-9+.-]*:[^\s]+$/, "a URI", options);

/** A date: "2026-01-31". */
export const date = (options: StringOptions = {}): Schema<string> =>
	formatted("date", /^\d{4}-(?:0\d|1[0-2])-[0-3]\d$/, "a date such as 2026-01-31", options);

/** A date with its time and time zone (RFC 3339): "2026-01-31T12:00:00Z". */
export const dateTime = (options: StringOptions = {}): Schema<string> => {
	const pattern = /^\d{4}-(?:0\d|1[0-2])-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\d(?:\.\d{1,9})?(?:Z|[+-][0-2]\d:[0-5]\d)$/;
	return formatted("date-time", pattern, "a date and time such as 2026-01-31T12:00:00Z", options);
};

const formatted = (format: string, pattern: RegExp, expected: string, options: StringOptions): Schema<string> => ({
	type: "string",
	format,
	...options,
	check: checkBy(pattern, expected),
});

/** The expression is compiled for each text: a schema may be preloaded, where none may be kept (docs/sdk.md). */
const checkBy = ({ source }: RegExp, expected: string): StringCheck =>
	named((text) => new RegExp(source).test(text), expected);

const named = (check: (text: string) => boolean, expected: string): StringCheck => Object.assign(check, { expected });
