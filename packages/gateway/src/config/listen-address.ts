import { hostname, networkInterfaces } from "node:os";

/** Hostnames of this machine's loopback addresses, as in a URL. Not the SDK's list: every command would load the SDK. */
const LOOPBACK_HOSTNAMES = ["localhost", "127.0.0.1", "[::1]"];

/** Whether only programs on this machine can connect to that address, or to that hostname of a URL. */
export function isLoopback(address: string): boolean {
	return /^(localhost|::1|\[::1\]|127(\.[0-9]{1,3}){3})$/.test(address);
}

/** Hostnames, as in a URL, of a server that listens on that address. IPv6 addresses have brackets. */
export function hostnamesOf(address: string): string[] {
	if (isLoopback(address)) {
		return [...LOOPBACK_HOSTNAMES];
	}
	const own = isEverywhere(address) ? ownAddresses().map((each) => each.address) : [address];
	const name = hostname().toLowerCase();
	return [...LOOPBACK_HOSTNAMES, ...own.map(bracketed), name, `${name}.local`];
}

/** A URL without a path. If the server listens on every address: loopback. */
export function urlAt(scheme: string, address: string, port: number): string {
	return `${scheme}://${isEverywhere(address) ? "127.0.0.1" : bracketed(address)}:${port}`;
}

/**
 * A URL without a path for other machines: if the server listens on every address, the first IPv4 address of this
 * machine that is not loopback; undefined if it has none.
 */
export function outsideUrlAt(scheme: string, address: string, port: number): string | undefined {
	if (!isEverywhere(address)) {
		return urlAt(scheme, address, port);
	}
	const outside = ownAddresses().find(({ family, internal }) => family === "IPv4" && !internal);
	return outside && urlAt(scheme, outside.address, port);
}

function isEverywhere(address: string): boolean {
	return address === "0.0.0.0" || address === "::";
}

function ownAddresses() {
	return Object.values(networkInterfaces()).flatMap((list = []) => list);
}

function bracketed(address: string): string {
	return address.includes(":") ? `[${address}]` : address;
}

/** The origin at which clients sign in: `publicUrl` with https or on loopback, without a path. Undefined: sign-in is off. */
export function publicOrigin(publicUrl: string | undefined): string | undefined {
	if (publicUrl === undefined) {
		return undefined;
	}
	const { origin, protocol, hostname, pathname, search } = new URL(publicUrl);
	const isSecure = protocol === "https:" || isLoopback(hostname);
	return isSecure && pathname === "/" && search === "" ? origin : undefined;
}
