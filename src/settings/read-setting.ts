import type { Settings } from "../hardware/hardware.js";

/** The domain of the settings that override what the firmware was built with. */
const DOMAIN = "xs-mcp";

/**
 * Reads one setting: the stored one if there is one, else what the firmware was built with.
 *
 * @param built the manifest's `config`
 * @returns undefined if neither has it
 */
export function readSetting(
	key: string,
	built: Readonly<Record<string, unknown>>,
	settings: Pick<Settings, "get"> | undefined,
): unknown {
	return settings?.get(DOMAIN, key) ?? built[key];
}

/** Stores a setting, so that it wins over what the firmware was built with. */
export function storeSetting(key: string, value: string, settings: Pick<Settings, "set">): void {
	settings.set(DOMAIN, key, value);
}

/** Settings as they would be with these values stored. */
export function withSettings(
	values: Readonly<Record<string, string>>,
	settings: Pick<Settings, "get">,
): Pick<Settings, "get"> {
	return { get: (domain, key) => (domain === DOMAIN ? values[key] : undefined) ?? settings.get(domain, key) };
}
