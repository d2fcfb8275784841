import { closest } from "fastest-levenshtein";

/** Path of a value in a document: members and indices. */
export type Path = readonly (string | number)[];

/** A value that cannot be used. The message says where it is. */
export class FieldError extends Error {
	override readonly name = "FieldError";
	readonly path: Path;

	constructor(path: Path, message: string) {
		super(path.length === 0 ? message : `${describePath(path)}: ${message}`);
		this.path = path;
	}
}

/** A path as a person writes it: "steps[2].press". */
function describePath(path: Path): string {
	return path.reduce<string>((text, key) => {
		if (typeof key === "number") {
			return `${text}[${key}]`;
		}
		return text === "" ? key : `${text}.${key}`;
	}, "");
}

/**
 * The members of an object.
 *
 * @throws FieldError if it is something else, or has members that are not `known`
 */
export function readMembers(value: unknown, path: Path, known: readonly string[]): Readonly<Record<string, unknown>> {
	const members = readObject(value, path);
	for (const name of Object.keys(members)) {
		if (!known.includes(name)) {
			throw new FieldError([...path, name], `unknown field (expected ${known.join(", ")})`);
		}
	}
	return members;
}

/** @throws FieldError */
export function readObject(value: unknown, path: Path): Readonly<Record<string, unknown>> {
	if (typeof value !== "object" || value === null || Array.isArray(value)) {
		throw new FieldError(path, "expected fields with values");
	}
	return value as Record<string, unknown>;
}

/** @throws FieldError */
export function readNumber(value: unknown, path: Path): number {
	if (typeof value !== "number" || !Number.isFinite(value)) {
		throw new FieldError(path, "expected a number");
	}
	return value;
}

/** @throws FieldError */
export function readInteger(value: unknown, path: Path, minimum: number, maximum: number): number {
	if (!Number.isInteger(value) || (value as number) < minimum || (value as number) > maximum) {
		throw new FieldError(path, `expected a whole number from ${minimum} to ${maximum}`);
	}
	return value as number;
}

/** @throws FieldError */
export function readBoolean(value: unknown, path: Path): boolean {
	if (typeof value !== "boolean") {
		throw new FieldError(path, "expected true or false");
	}
	return value;
}

/** @throws FieldError if it is something else, empty or too long */
export function readText(value: unknown, path: Path, maxLength: number): string {
	if (typeof value !== "string" || value.trim() === "" || value.length > maxLength) {
		throw new FieldError(path, `expected a text of 1 to ${maxLength} characters`);
	}
	return value;
}

/** Words that an error lists. Of more, it names the nearest one. */
const MAX_WORDS = 12;

/** @throws FieldError if it is not one of the words */
export function readWord<Word extends string>(value: unknown, path: Path, words: readonly Word[]): Word {
	if (!words.includes(value as Word)) {
		const more = words.length > MAX_WORDS ? `, …; the nearest is ${closest(String(value), words)}` : "";
		throw new FieldError(path, `expected ${words.slice(0, MAX_WORDS).join(", ")}${more}`);
	}
	return value as Word;
}
