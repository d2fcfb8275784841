import { splitUrl, type UrlParts } from "../text/url.js";
import { ProtocolError } from "./protocol-error.js";

/**
 * Takes a backend's URL apart.
 *
 * @throws ProtocolError "bad-config"
 */
export function parseUrl(url: string): UrlParts {
	const parts = splitUrl(url);
	if (parts === undefined) {
		throw new ProtocolError("bad-config", `backend: expected scheme://host[:port][/path], got ${JSON.stringify(url)}`);
	}
	return parts;
}
