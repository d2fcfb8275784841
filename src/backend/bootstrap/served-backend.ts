import type { Settings } from "../../hardware/hardware.js";
import { isObject } from "../../text/is-object.js";
import { parseJson } from "../../text/parse-json.js";

/** The settings that the bootstrap serves, by their names in the configuration, which they override. */
export interface ServedBackend {
	readonly backend: string;
	readonly [setting: string]: string | number;
}

const DOMAIN = "bootstrap";
const KEY = "backend";

/** Stores a backend, so that the next start works without the server. One text, so that it is never stored in part. */
export const storeBackend = (settings: Settings | undefined, otaUrl: string, backend: ServedBackend): void => {
	settings?.set(DOMAIN, KEY, JSON.stringify({ otaUrl, backend }));
};

/** The backend that this server served last. Checked, because the stored text may be from another firmware. */
export const storedBackend = (settings: Settings | undefined, otaUrl: string): ServedBackend | undefined => {
	const text = settings?.get(DOMAIN, KEY);
	let stored: unknown;
	try {
		stored = typeof text === "string" ? parseJson(text) : undefined;
	} catch {
		return undefined;
	}
	if (!isObject(stored) || stored.otaUrl !== otaUrl || !isObject(stored.backend)) {
		return undefined;
	}
	return typeof stored.backend.backend === "string" ? (stored.backend as unknown as ServedBackend) : undefined;
};
