/** A service that was found on the local network (DNS-SD, https://www.rfc-editor.org/rfc/rfc6763). */
export interface FoundService {
	/** For people. */
	readonly name: string;
	/** The hostname: "xs-mcp-workshop.local". */
	readonly host: string;
	/** Its IPv4 address. */
	readonly address: string;
	readonly port: number;
	/** Further facts, by name. */
	readonly txt?: ReadonlyMap<string, string | undefined>;
}

/** ECMA-419's DNS-SD, as far as it is used. Each search opens its own. */
export interface DnsSd {
	/** Searches for services of a type, such as `_xs-mcp._tcp`, and reports each, also when it has changed. */
	discover(options: {
		readonly serviceType: string;
		readonly onFound: (service: FoundService) => void;
		readonly onUpdate: (service: FoundService) => void;
	}): object;
	/** Ends every search. */
	close(): void;
}

/** The platform's DNS-SD: `src/platform/dns-sd`. Throws if the network cannot be used now. */
export type OpenDnsSd = () => DnsSd;
