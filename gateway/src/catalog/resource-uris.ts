/** How a device names itself in the URIs of its resources. */
const SELF = "device://self/";

/** Begins the URIs of resources that a device does not name `device://self/…`. */
const OTHER = "on-device://";

/**
 * The URI, or template of URIs, by which clients of several devices know a resource of one of them:
 * `device://self/x` is `device://ALIAS/x`, and any other URI has `on-device://ALIAS/` in front. So no two are the same.
 */
export function clientUri(uri: string, alias: string): string {
	return uri.startsWith(SELF) ? `device://${alias}/${uri.slice(SELF.length)}` : `${OTHER}${alias}/${uri}`;
}

/** Whose resource a {@link clientUri} means, and the device's own URI; undefined for any other URI. */
export function parseClientUri(uri: string): { readonly alias: string; readonly uri: string } | undefined {
	const [, scheme, alias = "", rest = ""] = /^(device|on-device):\/\/([^/]+)\/(.*)$/s.exec(uri) ?? [];
	if (scheme === undefined || (scheme === "on-device" && rest.startsWith(SELF))) {
		return undefined;
	}
	return { alias, uri: scheme === "device" ? `${SELF}${rest}` : rest };
}
