import { isLoopback } from "./listen-address.js";

/**
 * The origin at which clients sign in: that of `publicUrl`, with https, or on loopback.
 *
 * @returns undefined if sign-in is off: no such URL, or one with a path, below which OAuth's well-known paths are not
 */
export function publicOrigin(publicUrl: string | undefined): string | undefined {
	if (publicUrl === undefined) {
		return undefined;
	}
	const { origin, protocol, hostname, pathname, search } = new URL(publicUrl);
	const isSecure = protocol === "https:" || isLoopback(hostname.replace(/^\[(.*)\]$/, "$1"));
	return isSecure && pathname === "/" && search === "" ? origin : undefined;
}
