import { SettingError } from "../settings/setting-error.js";
import { splitUrl, type UrlParts } from "../text/url.js";

/**
 * Takes a backend's URL apart.
 *
 * @throws SettingError
 */
export const parseUrl = (url: string): UrlParts => {
	const parts = splitUrl(url);
	if (parts === undefined) {
		throw new SettingError("backend", `expected scheme://host[:port][/path], got ${JSON.stringify(url)}`);
	}
	return parts;
};

/** Error about a backend's scheme for which the device has no client. */
export const unsupportedScheme = (scheme: string): SettingError =>
	new SettingError("backend", `this device does not support ${scheme}://`);
