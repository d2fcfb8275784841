import type { Settings } from "../hardware/hardware.js";
import type { WiFiAccess } from "../hardware/wifi-setup.js";
import { SEARCH_SCHEME } from "./config.js";
import { forgetSetting, type SettingSource, settingText, storeSetting } from "./read-setting.js";
import { deepFreeze } from "./text/deep-freeze.js";
import { MAX_NETWORKS, networksText, parseNetworks } from "./wifi-settings.js";

/** Sources of settings on a device that can store them. */
export interface StoredSource extends SettingSource {
	readonly settings: Settings;
}

/** Returns the networks of the settings, that of `ssid` first. Never throws: Wi-Fi must work with any settings. */
export const knownNetworks = (source: SettingSource): readonly WiFiAccess[] => {
	const first = { ssid: settingText("ssid", source), password: settingText("password", source) };
	return [first, ...(parseNetworks(settingText("networks", source)) ?? [])].filter(
		({ ssid }, at, all) => ssid !== "" && all.findIndex((each) => each.ssid === ssid) === at,
	);
};

/** Stores a network as the setting `ssid`. Earlier networks stay known, up to the limit. */
export const storeNetwork = (access: WiFiAccess, source: StoredSource): void => {
	storeOthers(withFirst(access, knownNetworks(source)), access.ssid, source.settings);
	storeSetting("ssid", access.ssid, source.settings);
	storeSetting("password", access.password, source.settings);
};

/** Puts a network first in a list, and drops the oldest beyond the limit. */
export const withFirst = (access: WiFiAccess, networks: readonly WiFiAccess[]): readonly WiFiAccess[] =>
	[access, ...networks.filter(({ ssid }) => ssid !== access.ssid)].slice(0, MAX_NETWORKS + 1);

const storeOthers = (networks: readonly WiFiAccess[], first: string, settings: Settings): void => {
	const text = networksText(networks.filter(({ ssid }) => ssid !== first).slice(0, MAX_NETWORKS));
	if (text !== "") {
		storeSetting("networks", text, settings);
	}
};

/** Settings that the set-up stores, in groups that are forgotten together: a token must not reach another backend. */
const GROUPS = deepFreeze([
	["ssid", "password", "networks"],
	["backend", "otaUrl", "token", "mqttUsername", "mqttPassword"],
	["name"],
	["language"],
] as const);

/** Key of the stored hashes of the built-in values of each group. */
const FLASHED = Object.freeze(["board", "flashed"] as const);

/** Lets newly flashed settings win: forgets a group whose built-in values have changed. Networks stay known. */
export const preferFlashed = (source: StoredSource, log: (message: string) => void): void => {
	try {
		forgetReplaced(source);
	} catch (error) {
		log(`settings: flashed ones could not replace stored ones: ${String(error)}`);
	}
};

const forgetReplaced = ({ built, settings }: StoredSource): void => {
	const hashes = GROUPS.map((names) => hashTexts(names.map((name) => valueText(built[name]))));
	const stored = settings.get(...FLASHED);
	const before = typeof stored === "string" ? stored.split(",") : [];
	const changed = GROUPS.filter((_, at) => hashes[at] !== "" && hashes[at] !== before[at]);
	if (changed.includes(GROUPS[0])) {
		const flashed = knownNetworks({ built, settings: undefined });
		const earlier = knownNetworks({ built: {}, settings });
		const networks = [...flashed, ...earlier.filter(({ ssid }) => flashed.every((each) => each.ssid !== ssid))];
		storeOthers(networks, String(built.ssid ?? ""), settings);
	}
	const text = hashes.join();
	if (text !== (stored ?? ",,,")) {
		settings.set(...FLASHED, text);
	}
	// Only if the hashes were stored: otherwise each start would forget the settings again.
	if (settings.get(...FLASHED) === text) {
		for (const name of changed.flat()) {
			if (name !== "networks") {
				forgetSetting(name, settings);
			}
		}
	}
};

/** Returns a built-in value as text. A bare `mdns:` counts as unset, so that it replaces no stored backend. */
const valueText = (value: unknown): string => (value === SEARCH_SCHEME ? "" : String(value ?? ""));

/** FNV-1a of texts, 32 bits. Empty if all of them are. */
const hashTexts = (texts: readonly string[]): string => {
	let hash = 0x811c9dc5;
	for (const character of texts.join("\n")) {
		hash = Math.imul(hash ^ (character.codePointAt(0) as number), 0x01000193);
	}
	return texts.join("") === "" ? "" : (hash >>> 0).toString(36);
};
