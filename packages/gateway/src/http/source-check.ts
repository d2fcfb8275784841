import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import type { TLSSocket } from "node:tls";
import { localhostAllowedOrigins, validateHostHeader, validateOriginHeader } from "@modelcontextprotocol/server";
import { hostnamesOf, isLoopback } from "../config/listen-address.js";
import { announcedHostname } from "../devices/announcement.js";
import { GatewayError } from "../gateway-error.js";

/** Throws GatewayError (403) if Host or Origin of a request is foreign. */
export type CheckSource = (request: IncomingMessage) => void;

/**
 * Makes a check that rejects cross-site requests and DNS rebinding: MCP "Security Warning" of Streamable HTTP.
 *
 * @param addresses where the server listens
 * @param allowedHosts further hostnames of the server
 * @param allowedOrigins hostnames of further sites whose pages may use the gateway
 */
export function makeSourceCheck(
	addresses: readonly string[],
	allowedHosts: readonly string[],
	allowedOrigins: readonly string[],
): CheckSource {
	// On loopback nothing is announced, and another machine could answer for these names.
	const isOutside = addresses.some((address) => !isLoopback(address));
	const announced = isOutside ? ["http", "https"].map((scheme) => `${announcedHostname(scheme)}.local`) : [];
	const hostnames = [...addresses.flatMap(hostnamesOf), ...announced, ...allowedHosts];
	const origins = [...localhostAllowedOrigins(), ...allowedOrigins];
	/** The last good Host: a client sends the same one with each request. */
	let goodHost: string | undefined;
	return ({ url = "", headers: { host, origin } }) => {
		if (host !== undefined && host === goodHost && origin === undefined && url.startsWith("/")) {
			return;
		}
		// RFC 9112 §3.2.2: the host in a target that is a whole URL counts, not the header.
		const target = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1];
		for (const name of target === undefined ? [host] : [host, target]) {
			// A name with a dot at its end is the same name: RFC 1034 §3.1.
			const hostCheck = validateHostHeader(name?.replace(/\.(?=:\d+$|$)/, ""), hostnames);
			if (!hostCheck.ok) {
				throw new GatewayError("host", `${hostCheck.message}: not a name of this gateway (allowedHosts)`);
			}
		}
		goodHost = host;
		const originCheck = validateOriginHeader(origin, origins);
		if (!originCheck.ok) {
			throw new GatewayError("origin", `${originCheck.message}: not an allowed site (allowedOrigins)`);
		}
	};
}

/**
 * Whether a page that the gateway did not serve makes the request: its Origin is another than the one asked.
 *
 * @param isSecure whether the client speaks TLS
 */
export function isOfForeignPage({ headers: { host = "", origin } }: IncomingMessage, isSecure: boolean): boolean {
	const scheme = isSecure ? "https" : "http";
	return origin !== undefined && origin.toLowerCase() !== `${scheme}://${host}`.toLowerCase();
}

/**
 * Whether the gateway's own page makes the request, so that its cookie counts. Browsers name the Origin of everything that
 * changes something; a GET without one is at least not from a page that could read the answer.
 *
 * @param isSecure whether the client speaks TLS
 */
export function isOfOwnPage(request: IncomingMessage, isSecure: boolean): boolean {
	const { origin, "sec-fetch-site": site } = request.headers;
	if (origin !== undefined) {
		return !isOfForeignPage(request, isSecure);
	}
	return request.method === "GET" && (site === undefined || site === "same-origin");
}

/** Network addresses of clients. */
export type ClientAddresses = ReturnType<typeof makeClientAddresses>;

/**
 * Finds out the network address that a request comes from, for logs and limits.
 *
 * @param trustProxy addresses and CIDR ranges of proxies, whose `X-Forwarded-For` is trusted
 */
export function makeClientAddresses(trustProxy: readonly string[]) {
	const trusted = new BlockList();
	const isTrusted = (address: string): boolean => isIP(address) !== 0 && trusted.check(address, familyOf(address));
	for (const range of trustProxy) {
		const [address = "", prefix] = range.split("/");
		const family = familyOf(address);
		if (prefix === undefined) {
			trusted.addAddress(address, family);
		} else {
			trusted.addSubnet(address, Number(prefix), family);
		}
	}
	return {
		/** The last address on the way that is not a trusted proxy: what stands before it could be made up. */
		of({ socket, headers }: IncomingMessage): string {
			let address = socket.remoteAddress ?? "unknown";
			const forwarded = headers["x-forwarded-for"]?.toString().split(",") ?? [];
			for (let hop = forwarded.pop(); hop && isTrusted(address); hop = forwarded.pop()) {
				if (isIP(hop.trim()) === 0) {
					break;
				}
				address = hop.trim();
			}
			return address;
		},
		/** Whether the client speaks TLS: with the gateway, or with a trusted proxy that says so. */
		isSecure({ socket, headers }: IncomingMessage): boolean {
			const said = headers["x-forwarded-proto"]?.toString().split(",").pop()?.trim();
			return (socket as TLSSocket).encrypted === true || (said === "https" && isTrusted(socket.remoteAddress ?? ""));
		},
	};
}

function familyOf(address: string): "ipv4" | "ipv6" {
	return isIP(address) === 6 ? "ipv6" : "ipv4";
}
