import { isIP, type LookupFunction } from "node:net";
import { isUserOnly, type Server, ServerError, type ServerIdentity, type ServerTool } from "xs-mcp-manager/core";
import { isObject } from "../firmware.js";
import { isPublic, publicLookup } from "../net/public-request.js";

interface FetchPolicyOptions {
	/** Hosts, with or without a port, that devices may be told to fetch from besides; "*": any. */
	readonly hosts: readonly string[];
	/** Returns the gateway's own URLs, as a device and as clients know them. */
	readonly ownUrls: (identity: ServerIdentity) => readonly (string | undefined)[];
	/** Resolves hostnames. Default: the system's resolver. */
	readonly resolve: LookupFunction | undefined;
}

/**
 * Limits the URLs that clients have devices fetch, such as sounds and pictures: a device reaches hosts of its network that
 * the client may not reach. User-only tools are not limited.
 */
export class FetchPolicy {
	readonly #options: FetchPolicyOptions;

	constructor(options: FetchPolicyOptions) {
		this.#options = options;
	}

	/** Checks the arguments of a call. Rejects with ServerError that names the argument. */
	readonly check = async (server: Server, tool: ServerTool, args: object): Promise<void> => {
		if (server.configured || isUserOnly(tool)) {
			return;
		}
		for (const [name, value] of Object.entries(args)) {
			if (isUrl(tool, name) && typeof value === "string" && /^https?:/i.test(value.trim())) {
				await this.#checkUrl(server, name, value);
			}
		}
	};

	async #checkUrl({ connection }: Server, name: string, value: string): Promise<void> {
		// Parsers differ in what they take for the host.
		const url = URL.canParse(value) && !/[\\@\s]/.test(value) ? new URL(value) : undefined;
		if (url === undefined) {
			throw new ServerError("invalid-arguments", `${name}: expected a URL without user name, "\\" and spaces`);
		}
		const { hosts, ownUrls, resolve } = this.#options;
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
	}
}

/** Returns whether an argument of a tool is a URL, by its name or schema. */
function isUrl({ inputSchema }: ServerTool, name: string): boolean {
	const property = inputSchema.properties?.[name];
	return /(^|[^a-z])url$|Url$/i.test(name) || (isObject(property) && property.format === "uri");
}
