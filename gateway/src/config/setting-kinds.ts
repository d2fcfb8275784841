import { isObject } from "../../../src/text/is-object.js";

/** What values a setting takes, and how they are written in a flag or an environment variable and in the file. */
export interface SettingKind<T> {
	/** What stands for the value in `--help`: "port", "ms". Absent: the flag takes none. */
	readonly placeholder?: string;
	/** Whether the flag may be given several times. */
	readonly repeatable?: boolean;
	/**
	 * Reads the value from text, or from JSON.
	 *
	 * @throws ValueRefused that says what was expected
	 */
	read(value: unknown): T;
}

/** A value cannot be used. Its message goes on from the setting's name: `expected a port from 0 to 65535, got "x"`. */
export class ValueRefused extends Error {
	constructor(expected: string, value: unknown) {
		super(`expected ${expected}, got ${JSON.stringify(value)}`);
	}
}

/** Text that is not empty. */
export function text(placeholder: string): SettingKind<string> {
	return {
		placeholder,
		read(value) {
			if (typeof value !== "string" || value === "") {
				throw new ValueRefused("text", value);
			}
			return value;
		},
	};
}

/** A whole number; `placeholder` is its unit. */
export function integer(placeholder: string, minimum: number, maximum: number): SettingKind<number> {
	return {
		placeholder,
		read(value) {
			const number = typeof value === "string" && /^[0-9]{1,15}$/.test(value) ? Number(value) : value;
			if (!Number.isInteger(number) || (number as number) < minimum || (number as number) > maximum) {
				throw new ValueRefused(`a whole number from ${minimum} to ${maximum}`, value);
			}
			return number as number;
		},
	};
}

/** Yes or no: `--NAME` or `--no-NAME`, true or false. */
export const flag: SettingKind<boolean> = {
	read(value) {
		if (value === true || value === "true") {
			return true;
		}
		if (value === false || value === "false") {
			return false;
		}
		throw new ValueRefused("true or false", value);
	},
};

/** One of a few words. */
export function oneOf<const T extends string>(placeholder: string, words: readonly T[]): SettingKind<T> {
	return {
		placeholder,
		read(value) {
			const word = words.find((each) => each === value);
			if (word === undefined) {
				throw new ValueRefused(`one of ${words.join(", ")}`, value);
			}
			return word;
		},
	};
}

/** A URL with one of these schemes. */
export function url(schemes: readonly string[]): SettingKind<string> {
	return {
		placeholder: "url",
		read(value) {
			if (typeof value !== "string" || !URL.canParse(value) || !schemes.includes(new URL(value).protocol)) {
				throw new ValueRefused(`a URL that begins with ${schemes.map((each) => `${each}//`).join(" or ")}`, value);
			}
			return value;
		},
	};
}

/** Several texts: the flag again and again, commas in the environment, an array in the file. */
export function list(placeholder: string): SettingKind<readonly string[]> {
	return {
		placeholder,
		repeatable: true,
		read(value) {
			const items = typeof value === "string" ? value.split(",").map((each) => each.trim()) : value;
			if (!Array.isArray(items) || !items.every((each) => typeof each === "string" && each !== "")) {
				throw new ValueRefused("a list of texts", value);
			}
			return items as string[];
		},
	};
}

/** Host names as the SDK's guards compare them: no port; no scheme either, but `SCHEME://*` for browser extensions. */
export const hostNames: SettingKind<readonly string[]> = {
	placeholder: "name",
	repeatable: true,
	read(value) {
		const names = list("name").read(value);
		if (!names.every((name) => HOST_NAME.test(name))) {
			throw new ValueRefused("host names, without scheme and port", value);
		}
		return names.map((name) => name.toLowerCase());
	},
};

const HOST_NAME = /^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]|[a-z-]+:\/\/\*)$/;

/** Texts by name: `NAME=VALUE` as {@link list} has its items, an object in the file. */
export function pairs(placeholder: string): SettingKind<ReadonlyMap<string, string>> {
	return {
		placeholder,
		repeatable: true,
		read(value) {
			const entries = isObject(value) ? Object.entries(value) : readPairs(list(placeholder).read(value));
			if (!entries.every(([name, each]) => name !== "" && typeof each === "string" && each !== "")) {
				throw new ValueRefused(`pairs like ${placeholder}`, value);
			}
			return new Map(entries as [string, string][]);
		},
	};
}

function readPairs(items: readonly string[]): [string, string][] {
	return items.map((item) => {
		const at = item.lastIndexOf("=");
		return [item.slice(0, Math.max(at, 0)), item.slice(at + 1)];
	});
}
