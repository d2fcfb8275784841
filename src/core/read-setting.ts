import type { Settings } from "../hardware/hardware.js";
import { type Rule, SETTINGS, type SettingName, type SettingValue } from "./settings-table.js";
import { deepFreeze } from "./text/deep-freeze.js";
import { fromHex } from "./text/hex.js";
import { splitUrl } from "./text/url.js";
import { utf8Length } from "./text/utf8.js";
import { MAX_NETWORKS, parseNetworks, parseStaticAddress } from "./wifi-settings.js";

/** A setting has an invalid value. The message never quotes a secret, because it reaches the log and the screen. */
export class SettingError extends Error {
	/** Declared as a field: an assignment would hit the read-only property of `Error` in flash. */
	override readonly name = "SettingError";
	/** The setting's name, as in the table. */
	readonly setting: string;
	/** The error, without the setting's name: "expected a string, got number". */
	readonly problem: string;

	constructor(setting: string, problem: string) {
		super(`${setting}: ${problem}`);
		this.setting = setting;
		this.problem = problem;
	}
}

/** The sources of settings. */
export interface SettingSource {
	/** The built-in settings: the manifest's `config`. */
	readonly built: Readonly<Record<string, unknown>>;
	/** Values stored on the device, which take precedence. */
	readonly settings: Pick<Settings, "get"> | undefined;
}

const DOMAIN = "xs-mcp";

const RULES: Readonly<Record<SettingName, Rule>> = SETTINGS;

/**
 * Reads a setting: the stored value, else the one that the firmware was built with, else the default. An empty value
 * counts as unset, except for texts.
 *
 * @throws SettingError
 */
export const readSetting = <Name extends SettingName>(name: Name, source: SettingSource): SettingValue<Name> => {
	const value = findValue(name, source);
	const rule = RULES[name];
	const isText = rule.kind === "text" || rule.kind === "secret";
	if (value === undefined || (value === "" && !isText)) {
		return rule.default as SettingValue<Name>;
	}
	return checkSetting(name, value);
};

/** Reads several settings. @throws SettingError */
export const readSettings = <Name extends SettingName>(
	names: readonly Name[],
	source: SettingSource,
): { readonly [Each in Name]: SettingValue<Each> } =>
	Object.fromEntries(names.map((name) => [name, readSetting(name, source)])) as {
		readonly [Each in Name]: SettingValue<Each>;
	};

/** A setting as unchecked text, for parts that must work with any value: the Wi-Fi, the set-up page. */
export const settingText = (name: SettingName, source: SettingSource): string =>
	String(findValue(name, source) ?? RULES[name].default ?? "");

/** Stores a setting, which then overrides the built-in one. @throws Error if it cannot be stored */
export const storeSetting = (name: SettingName, value: string, settings: Pick<Settings, "set">): void => {
	if (!settings.set(DOMAIN, name, value)) {
		throw new Error(`${name}: could not be stored; the device's log has the reason`);
	}
};

/** Deletes a stored setting, so that the built-in one applies. */
export const forgetSetting = (name: SettingName, settings: Pick<Settings, "delete">): void =>
	settings.delete(DOMAIN, name);

/** Returns settings in which these values override the stored ones. */
export const withSettings = (
	values: Readonly<Record<string, string | number>>,
	settings: Pick<Settings, "get"> | undefined,
): Pick<Settings, "get"> => ({
	get: (domain, name) => (domain === DOMAIN ? values[name] : undefined) ?? settings?.get(domain, name),
});

/** @throws SettingError if the value is not valid */
export const checkSetting = <Name extends SettingName>(name: Name, value: unknown): SettingValue<Name> =>
	parse(name, RULES[name], value) as SettingValue<Name>;

const findValue = (name: SettingName, { built, settings }: SettingSource): unknown =>
	(RULES[name].builtOnly ? undefined : settings?.get(DOMAIN, name)) ?? built[name];

const parse = (name: SettingName, rule: Rule, value: unknown): unknown => {
	const words = String(value).split(",");
	switch (rule.kind) {
		case "text":
		case "secret":
			return parseText(name, rule, value);
		case "integer":
			return parseInteger(name, rule, value);
		case "choice":
			return choose(name, rule.choices, value);
		case "choices":
			return words.map((each) => choose(name, rule.choices, each.trim()));
		case "flag":
			return choose(name, ["true", "false"], value) === "true";
		case "hex":
			return expected(name, parseHex(value, rule.maxBytes), `at most ${rule.maxBytes} bytes as hexadecimal digits`);
		case "p256-keys":
			return words.map((each) => parsePublicKey(name, each.trim()));
		case "networks":
			return expected(name, parseNetworks(value), `at most ${MAX_NETWORKS} networks as [["NAME","PASSWORD"],…]`);
		case "static-address":
			return expected(name, parseStaticAddress(value), "ADDRESS/BITS,GATEWAY or ADDRESS/BITS,GATEWAY,DNS (IPv4)");
	}
};

/**
 * Returns a parsed value if it is valid.
 *
 * @param got the value before parsing, quoted in the error; undefined if it may be a secret
 * @throws SettingError if the value is undefined
 */
const expected = <Value>(name: SettingName, value: Value | undefined, description: string, got?: unknown): Value => {
	if (value === undefined) {
		const quoted = got === undefined ? "" : `, got ${JSON.stringify(got)}`;
		throw new SettingError(name, `expected ${description}${quoted}`);
	}
	return value;
};

const parseText = (name: SettingName, rule: Rule, value: unknown): string => {
	const isSecret = rule.kind === "secret";
	if (typeof value !== "string") {
		throw new SettingError(name, `expected a string, got ${isSecret ? typeof value : JSON.stringify(value)}`);
	}
	if (value === "" && rule.default === "") {
		return value;
	}
	const { minBytes = 0, maxBytes = Number.POSITIVE_INFINITY, maxLength = Number.POSITIVE_INFINITY, format } = rule;
	const length = utf8Length(value);
	const isInRange = length >= minBytes && length <= maxBytes && value.length <= maxLength;
	const isValid = isInRange && (format === undefined || FORMATS[format].accepts(value));
	return expected(name, isValid ? value : undefined, describeText(rule), isSecret ? undefined : value);
};

/** The formats of texts, and their descriptions for errors. */
const FORMATS: Readonly<
	Record<NonNullable<Rule["format"]>, { readonly text: string; readonly accepts: (value: string) => boolean }>
> = deepFreeze({
	visible: {
		text: "printable ASCII characters without spaces",
		accepts: (value: string) => /^[\x21-\x7e]*$/.test(value),
	},
	printable: { text: "printable ASCII characters", accepts: (value: string) => /^[\x20-\x7e]*$/.test(value) },
	line: { text: "text without line breaks", accepts: (value: string) => !/[\r\n]/.test(value) },
	"http-url": {
		text: "http://host[:port][/path] or https://…",
		accepts: (value: string) => /^https?$/.test(splitUrl(value)?.scheme ?? ""),
	},
	topic: { text: "a topic without wildcards", accepts: (value: string) => /^[^#+]+$/.test(value) },
	uuid: {
		text: "a UUID such as 123e4567-e89b-42d3-a456-426614174000",
		accepts: (value: string) => /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/.test(value),
	},
});

/** The description of a text setting, for errors and documentation: "8 to 63 printable ASCII characters, or none". */
const describeText = ({ default: otherwise, format, maxLength, minBytes, maxBytes }: Rule): string => {
	const unit = format === undefined ? (maxBytes === undefined ? "characters" : "bytes") : FORMATS[format].text;
	const most = maxLength ?? maxBytes;
	const range = most === undefined ? "" : minBytes === undefined ? `at most ${most} ` : `${minBytes} to ${most} `;
	return `${range}${unit}${minBytes !== undefined && otherwise === "" ? ", or none" : ""}`;
};

const parseInteger = (name: SettingName, rule: Rule, value: unknown): number => {
	const { unit, min = 0, max = Number.MAX_SAFE_INTEGER, orZero } = rule;
	const number = Number(value);
	const isValid = Number.isInteger(number) && ((number >= min && number <= max) || (orZero && number === 0));
	const noun = unit === undefined ? "a whole number" : `whole ${unit}`;
	return expected(name, isValid ? number : undefined, `${orZero ? "0, or " : ""}${noun} from ${min} to ${max}`, value);
};

const choose = <T>(name: SettingName, choices: readonly T[] = [], value: unknown): T => {
	const choice = choices.find((each) => String(each) === String(value));
	return expected(name, choice, choices.map((each) => JSON.stringify(each)).join(" or "), value);
};

const parseHex = (value: unknown, maxBytes = 0): ArrayBuffer | undefined => {
	const bytes = typeof value === "string" ? fromHex(value) : undefined;
	return bytes !== undefined && bytes.byteLength <= maxBytes ? bytes : undefined;
};

const parsePublicKey = (name: SettingName, value: string): ArrayBuffer => {
	const key = /^04[0-9a-fA-F]{128}$/.test(value) ? fromHex(value) : undefined;
	return expected(name, key, `a public key of P-256: "04" and 128 hexadecimal digits`, value);
};
