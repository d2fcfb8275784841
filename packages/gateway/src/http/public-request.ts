import { lookup as resolveName } from "node:dns";
import { request as sendHttp } from "node:http";
import { request as sendHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { isObject } from "xs-mcp-firmware/core/text/json";
import { isUserOnly, type Server, ServerError, type ServerIdentity, type ServerTool } from "xs-mcp-manager/core";
import { collect } from "./model-service.js";

export interface PublicRequestOptions {
	/** Default: GET. */
	readonly method?: string;
	readonly headers?: Readonly<Record<string, string>>;
	readonly body?: string;
	/** Milliseconds for the whole response. */
	readonly timeout: number;
	/** Largest body of a response. */
	readonly maxBytes: number;
	/** Resolves a hostname to its addresses. Default: the system's resolver. */
	readonly resolve?: LookupFunction | undefined;
	/** Whether an address may be connected to. Default: public ones. */
	readonly mayConnect?: ((address: string) => boolean) | undefined;
	/** Certificates that are trusted. Default: Node's. */
	readonly ca?: string | undefined;
}

/**
 * Sends a request to a URL that a stranger has chosen: only to a public address, which is checked as the connection is made, and
 * without following redirects. Rejects without a whole response.
 */
export function requestPublic(
	url: URL,
	options: PublicRequestOptions,
): Promise<{ readonly status: number; readonly body: string }> {
	const { maxBytes, body, ca } = options;
	// Node connects to an address in the URL without asking for it.
	if (isRefusedAddress(url, options)) {
		return Promise.reject(new Error("not a public address"));
	}
	const send = url.protocol === "https:" ? sendHttps : sendHttp;
	const requestOptions = {
		lookup: publicLookup(options),
		agent: false,
		method: options.method ?? "GET",
		headers: { ...options.headers, ...(body !== undefined && { "Content-Length": `${Buffer.byteLength(body)}` }) },
		signal: AbortSignal.timeout(options.timeout),
		...(ca !== undefined && { ca }),
	};
	return new Promise((resolve, reject) => {
		const request = send(url, requestOptions, (response) => {
			const { statusCode: status = 0 } = response;
			collect(response, { what: "the answer", maxBytes }).then((all) => resolve({ status, body: `${all}` }), reject);
		});
		request.on("error", reject);
		request.end(body);
	});
}

/** Returns whether the host of a URL is an address that may not be connected to. */
export function isRefusedAddress(
	{ hostname }: URL,
	{ mayConnect = isPublic }: Pick<PublicRequestOptions, "mayConnect">,
): boolean {
	const host = hostname.replace(/^\[(.*)\]$/, "$1");
	return isIP(host) !== 0 && !mayConnect(host);
}

/** Resolves names for the connection itself: the answer cannot change between the check and the connection. */
export function publicLookup({
	resolve,
	mayConnect = isPublic,
}: Pick<PublicRequestOptions, "resolve" | "mayConnect">): LookupFunction {
	return (hostname, options, callback) => {
		(resolve ?? (resolveName as LookupFunction))(hostname, options, (error, address, family) => {
			const addresses = typeof address === "string" ? [address] : (address?.map((each) => each.address) ?? []);
			const isAllowed = error === null && addresses.every((each) => mayConnect(each));
			callback(isAllowed ? null : (error ?? new Error(`${hostname} has no public address`)), address, family);
		});
	};
}

/** Resolves with whether a hostname has only addresses that may be connected to. */
export function isPublicName(hostname: string, options: Parameters<typeof publicLookup>[0]): Promise<boolean> {
	return new Promise((settle) => {
		publicLookup(options)(hostname, { all: true }, (error) => settle(error === null));
	});
}

/** The addresses of IPv6 that are assigned to the public internet: RFC 4291 §2.4. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/** Returns whether an address is of the public internet. One of IPv4 within IPv6 counts as what it is. */
function isPublic(address: string): boolean {
	if (!ipaddr.isValid(address)) {
		return false;
	}
	const parsed = ipaddr.process(address);
	const isAssigned = parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_UNICAST);
	return isAssigned && parsed.range() === "unicast";
}

/**
 * Limits the URLs that clients have devices fetch, such as sounds and pictures: a device reaches hosts of its network that
 * the client may not reach. User-only tools are not limited.
 *
 * @param hosts further hosts that devices may fetch from, with or without a port; "*": any
 * @param ownUrls returns the gateway's own URLs, as a device and as clients know them
 * @param resolve resolves hostnames. Default: the system's resolver
 */
export function fetchPolicy(
	hosts: readonly string[],
	ownUrls: (identity: ServerIdentity) => readonly (string | undefined)[],
	resolve?: LookupFunction | undefined,
) {
	const checkUrl = async ({ connection }: Server, name: string, value: string): Promise<void> => {
		// URL parsers disagree about the host.
		const url = URL.canParse(value) && !/[\\@\s]/.test(value) ? new URL(value) : undefined;
		if (url === undefined) {
			throw new ServerError("invalid-arguments", `${name}: expected a URL without user name, "\\" and spaces`);
		}
		const own = connection === undefined ? [] : ownUrls(connection.identity);
		const isOwn = own.some((each) => each !== undefined && new URL(each).origin === url.origin);
		if (isOwn || hosts.some((each) => each === "*" || each === url.host || each === url.hostname)) {
			return;
		}
		const host = url.hostname.replace(/[[\]]/g, "");
		if (!(isIP(host) === 0 ? await isPublicName(host, { resolve }) : isPublic(host))) {
			throw new ServerError(
				"invalid-arguments",
				`${name}: ${url.host} is not a public address, and not this gateway. Its operator allows hosts by the setting fetchHosts`,
			);
		}
	};
	/** Checks the arguments of a call: undefined if none is a URL. Rejects with ServerError that names the argument. */
	return (server: Server, tool: ServerTool, args: object): Promise<void> | undefined => {
		const urls = Object.entries(args).filter(([name, value]) => {
			const property = tool.inputSchema.properties?.[name];
			const isUrl = /(^|[^a-z])url$|Url$/i.test(name) || (isObject(property) && property.format === "uri");
			return isUrl && typeof value === "string" && /^https?:/i.test(value.trim());
		});
		if (urls.length === 0 || server.configured || isUserOnly(tool)) {
			return undefined;
		}
		// One after the other: a call may have thousands of hostnames.
		return urls.reduce((before, [name, url]) => before.then(() => checkUrl(server, name, url)), Promise.resolve());
	};
}
