/** The prefix of a device's own resource URIs. */
const SELF = "device://self/";

/** The prefix for all other resource URIs. */
const OTHER = "on-device://";

/**
 * The URI, or template of URIs, by which clients of several devices know a resource of one of them:
 * `device://self/x` is `device://ALIAS/x`, and any other URI has `on-device://ALIAS/` in front. So URIs are unique.
 */
export function clientUri(uri: string, alias: string): string {
	return uri.startsWith(SELF) ? `device://${alias}/${uri.slice(SELF.length)}` : `${OTHER}${alias}/${uri}`;
}

/** The server and its own URI of a {@link clientUri}; undefined for any other URI. */
export function parseClientUri(uri: string): { readonly alias: string; readonly uri: string } | undefined {
	const [, scheme, alias = "", rest = ""] = /^(device|on-device):\/\/([^/]+)\/(.*)$/s.exec(uri) ?? [];
	if (scheme === undefined || (scheme === "on-device" && rest.startsWith(SELF))) {
		return undefined;
	}
	return { alias, uri: scheme === "device" ? `${SELF}${rest}` : rest };
}
