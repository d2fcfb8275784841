import type { Settings } from "../hardware/hardware.js";
import type { WiFiAccess } from "../hardware/wifi-setup.js";
import { ProtocolError } from "../protocols/protocol-error.js";
import { readSetting, withSettings } from "../settings/read-setting.js";
import { deepFreeze } from "../text/deep-freeze.js";
import { isObject } from "../text/is-object.js";
import { parseJson } from "../text/parse-json.js";
import { utf8Length } from "../text/utf8.js";

/** The settings that the page has fields for. */
export const FIELDS = deepFreeze(["ssid", "password", "backend", "otaUrl", "token", "name"] as const);

export type Field = (typeof FIELDS)[number];

/** The page's settings, by name. */
export type SetupValues = Readonly<Record<Field, string>>;

/** What is wrong, by field; "form" for what belongs to no field. */
export type FormErrors = Readonly<Record<string, string>>;

/** Throws a ProtocolError "bad-config" if the firmware could not start with these settings. */
export type CheckSettings = (settings: Pick<Settings, "get">) => void;

/** Bytes that a Wi-Fi network's name and password may have. */
const LONGEST_SSID = 32;
const SHORTEST_PASSWORD = 8;
const LONGEST_PASSWORD = 64;

/** Characters that any other value may have. */
const LONGEST_VALUE = 512;

/** The settings as they are now. */
export function currentValues(
	built: Readonly<Record<string, unknown>>,
	settings: Pick<Settings, "get"> | undefined,
): SetupValues {
	const read = (field: Field): string => String(readSetting(field, built, settings) ?? "");
	return Object.fromEntries(FIELDS.map((field) => [field, read(field)])) as Record<Field, string>;
}

/**
 * Reads what a person has typed. An empty password stands for the one that is kept, if the network is the same. So does
 * an empty token, if the backend is the same: another one must not be told it.
 *
 * @param text a JSON object of texts by field
 */
export function readForm(text: string, current: SetupValues): { values: SetupValues } | { errors: FormErrors } {
	const typed = parseForm(text);
	if (typed === undefined) {
		return { errors: { form: "expected a JSON object of texts" } };
	}
	const errors: Record<string, string> = {};
	const values = { ...current };
	for (const field of FIELDS) {
		const value = typed[field] ?? "";
		values[field] = typeof value === "string" ? value.trim() : "";
		const error = typeof value === "string" ? limitError(value) : "expected a text";
		if (error !== undefined) {
			errors[field] = error;
		}
	}
	// Spaces may belong to a network's name or password.
	values.ssid = typeof typed.ssid === "string" ? typed.ssid : "";
	values.password = typeof typed.password === "string" ? typed.password : "";
	keepSecrets(values, current);
	const accessError = checkAccess(values);
	if (accessError !== undefined) {
		errors[accessError.field] ??= accessError.message;
	}
	return Object.keys(errors).length > 0 ? { errors } : { values };
}

/**
 * Checks settings by what the firmware does with them when it starts.
 *
 * @param settings those that are stored now
 * @returns undefined if it can start
 */
export function checkValues(
	values: SetupValues,
	settings: Pick<Settings, "get">,
	check: CheckSettings,
): FormErrors | undefined {
	try {
		check(withSettings(values, settings));
		return undefined;
	} catch (error) {
		if (!(error instanceof ProtocolError)) {
			throw error;
		}
		const colon = error.message.indexOf(": ");
		const field = error.message.slice(0, Math.max(colon, 0));
		return isField(field) ? { [field]: error.message.slice(colon + 2) } : { form: error.message };
	}
}

function isField(name: string): name is Field {
	return FIELDS.includes(name as Field);
}

function parseForm(text: string): Readonly<Record<string, unknown>> | undefined {
	try {
		const form = parseJson(text, 32);
		return isObject(form) ? form : undefined;
	} catch {
		return undefined;
	}
}

function limitError(value: string): string | undefined {
	if (value.length > LONGEST_VALUE) {
		return `expected at most ${LONGEST_VALUE} characters`;
	}
	for (const character of value) {
		if (character < " " || character === "\u007f") {
			return "must not hold control characters";
		}
	}
	return undefined;
}

function keepSecrets(values: Record<Field, string>, current: SetupValues): void {
	if (values.password === "" && values.ssid === current.ssid) {
		values.password = current.password;
	}
	if (values.token === "" && values.backend === current.backend && values.otaUrl === current.otaUrl) {
		values.token = current.token;
	}
}

/** What is wrong with a password is told without it. */
function checkAccess({ ssid, password }: WiFiAccess): { field: Field; message: string } | undefined {
	if (ssid === "") {
		return { field: "ssid", message: "choose a network, or type its name" };
	}
	if (utf8Length(ssid) > LONGEST_SSID) {
		return { field: "ssid", message: `expected at most ${LONGEST_SSID} bytes` };
	}
	const length = utf8Length(password);
	if (length > 0 && (length < SHORTEST_PASSWORD || length > LONGEST_PASSWORD)) {
		return {
			field: "password",
			message: `expected ${SHORTEST_PASSWORD} to ${LONGEST_PASSWORD} characters, or none for an open network`,
		};
	}
	return undefined;
}
