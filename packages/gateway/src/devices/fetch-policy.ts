import { isIP, type LookupFunction } from "node:net";
import { isUserOnly, type Server, ServerError, type ServerIdentity, type ServerTool } from "xs-mcp-manager/core";
import { isObject } from "../firmware.js";
import { isPublic, publicLookup } from "../http/public-request.js";

/** Checks the arguments of a call. Rejects with ServerError that names the argument. */
type CheckCall = (server: Server, tool: ServerTool, args: object) => Promise<void>;

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
): CheckCall {
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
		const hasPublicAddress =
			isIP(host) === 0
				? await new Promise((settle) => {
						publicLookup({ resolve })(host, { all: true }, (error) => settle(error === null));
					})
				: isPublic(host);
		if (!hasPublicAddress) {
			throw new ServerError(
				"invalid-arguments",
				`${name}: ${url.host} is not a public address, and not this gateway. Its operator allows hosts by the setting fetchHosts`,
			);
		}
	};
	return async (server, tool, args) => {
		if (server.configured || isUserOnly(tool)) {
			return;
		}
		for (const [name, value] of Object.entries(args)) {
			if (typeof value === "string" && /^https?:/i.test(value.trim()) && isUrl(tool, name)) {
				await checkUrl(server, name, value);
			}
		}
	};
}

function isUrl({ inputSchema }: ServerTool, name: string): boolean {
	const property = inputSchema.properties?.[name];
	return /(^|[^a-z])url$|Url$/i.test(name) || (isObject(property) && property.format === "uri");
}
