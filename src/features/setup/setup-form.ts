import type { Backend } from "../../core/backend.js";
import { type StoredSource, storeNetwork } from "../../core/known-networks.js";
import {
	checkSetting,
	SettingError,
	type SettingSource,
	settingText,
	storeSetting,
	withSettings,
} from "../../core/read-setting.js";
import { SETTINGS, type SettingName } from "../../core/settings-table.js";
import { isObject, tryParseJson } from "../../core/text/json.js";
import type { Settings } from "../../hardware/hardware.js";
import type { SetupMessage, TextKey } from "./setup-texts.js";

/** The settings that the page sends. */
export const FIELDS: readonly Field[] = Object.freeze(
	(Object.keys(SETTINGS) as SettingName[]).filter((name): name is Field => "onPage" in SETTINGS[name]),
);

type Field = {
	[Name in SettingName]: (typeof SETTINGS)[Name] extends { readonly onPage: true } ? Name : never;
}[SettingName];

/** The page's settings, by name. */
export type SetupValues = Readonly<Record<Field, string>>;

/** Errors by field; "form" for the form as a whole. */
export type FormErrors = Readonly<Record<string, SetupMessage>>;

/** A form that was read. */
export interface SetupForm {
	readonly values: SetupValues;
	/** Whether to search for gateways in the network, and store nothing. */
	readonly finds: boolean;
	/** Whether to store the settings even if the backend is not reached. */
	readonly keeps: boolean;
}

/** The message for a field whose value cannot be used. */
const WRONG: Readonly<Record<Field, TextKey>> = Object.freeze({
	ssid: "wrongSsid",
	password: "wrongPassword",
	backend: "wrongBackend",
	token: "wrongToken",
	otaUrl: "wrongOtaUrl",
	name: "wrongName",
	language: "wrongForm",
	timezone: "wrongForm",
});

const MAX_VALUES = 32;

/** The members that are read: XS would keep the names of any others until the restart. */
const NAMES: readonly string[] = Object.freeze([...FIELDS, "action"]);

/** Maximum characters of a value. */
const MAX_VALUE_LENGTH = 512;

/** Returns the present values. */
export const currentValues = (source: SettingSource): SetupValues =>
	Object.fromEntries(FIELDS.map((field) => [field, settingText(field, source)])) as Record<Field, string>;

/**
 * Reads a submitted form. An empty password keeps the stored one if the network is the same. An empty token keeps the
 * stored one if the backend is the same: another one must not receive it.
 *
 * @param text a JSON object of texts by field; `action` is "find", "keep" or absent
 */
export const readForm = (text: string, current: SetupValues): SetupForm | { errors: FormErrors } => {
	const typed = tryParseJson(text, MAX_VALUES, NAMES);
	if (!isObject(typed)) {
		return { errors: { form: { text: "wrongForm" } } };
	}
	const errors: Record<string, SetupMessage> = {};
	const values = { ...current };
	for (const field of FIELDS) {
		const value = typed[field] ?? "";
		values[field] = typeof value === "string" ? value.trim() : "";
		if (typeof value !== "string" || !isShortText(value)) {
			errors[errorPlace(field)] = { text: WRONG[field] };
		}
	}
	// Spaces may belong to a network's name or password.
	values.ssid = typeof typed.ssid === "string" ? typed.ssid : "";
	values.password = typeof typed.password === "string" ? typed.password : "";
	values.language ||= current.language;
	// The page sends the phone's time zone, which never replaces one that was set.
	values.timezone = current.timezone || values.timezone;
	if (values.password === "" && values.ssid === current.ssid) {
		values.password = current.password;
	}
	if (values.token === "" && values.backend === current.backend && values.otaUrl === current.otaUrl) {
		values.token = current.token;
	}
	if (values.ssid === "") {
		errors.ssid ??= { text: "chooseNetwork" };
	}
	// `checkValues` does not check these settings.
	for (const field of ["ssid", "password", "language", "timezone"] as const) {
		try {
			checkSetting(field, values[field]);
		} catch {
			errors[errorPlace(field)] ??= { text: WRONG[field] };
		}
	}
	const { action } = typed;
	return Object.keys(errors).length > 0 ? { errors } : { values, finds: action === "find", keeps: action === "keep" };
};

/**
 * Checks settings as the firmware does when it starts.
 *
 * @param settings those that are stored now
 * @returns undefined if it can start
 */
export const checkValues = (
	values: SetupValues,
	settings: Pick<Settings, "get">,
	backend: Pick<Backend, "check">,
): FormErrors | undefined => {
	try {
		backend.check(withSettings(values, settings));
		return undefined;
	} catch (error) {
		if (!(error instanceof SettingError)) {
			throw error;
		}
		const { setting, problem: detail, message } = error;
		const field = FIELDS.find((each) => each === setting);
		return field === undefined
			? { form: { text: "wrongSetting", detail: message } }
			: { [errorPlace(field)]: { text: WRONG[field], ...(field === "backend" && { detail }) } };
	}
};

/** Stores settings. @returns whether a restart is needed to apply them */
export const storeValues = (values: SetupValues, source: StoredSource): boolean => {
	const { settings } = source;
	const before = currentValues(source);
	const changed = FIELDS.filter((field) => values[field] !== before[field]);
	const others = changed.filter((field) => field !== "ssid" && field !== "password");
	if (others.length < changed.length) {
		storeNetwork(values, source);
	}
	for (const field of others) {
		storeSetting(field, values[field], settings);
	}
	if (changed.includes("backend") || changed.includes("otaUrl")) {
		// The page has no fields for the login of a broker, so it would be sent to another backend.
		for (const name of ["mqttUsername", "mqttPassword"] as const) {
			if (settingText(name, source) !== "") {
				storeSetting(name, "", settings);
			}
		}
	}
	return others.length > 0;
};

/** Returns the field at which the page shows an error. It has no inputs for language and time zone. */
const errorPlace = (field: Field): Field | "form" => (field === "language" || field === "timezone" ? "form" : field);

/** Checks the length, and rejects control characters. */
const isShortText = (value: string): boolean =>
	value.length <= MAX_VALUE_LENGTH && Array.from(value).every((each) => each >= " " && each !== "\u007f");
