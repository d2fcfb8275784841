/** The parts of a URL that a device connects to. */
export interface UrlParts {
	/** Scheme in lower case: "ws", "mqtts", "https", … */
	readonly scheme: string;
	/** Hostname or address; an IPv6 address has no brackets. */
	readonly host: string;
	/** `undefined` when the URL names none. */
	readonly port: number | undefined;
	/** Path and query; "/" if the URL names none. */
	readonly path: string;
}

/**
 * Takes a URL apart. Not the SDK's module `url`: XS from npm, which runs the suites and virtual devices, does not have it,
 * and its 2,000 lines of C parse far more than the URLs that a device connects to.
 *
 * @returns undefined if the text is not scheme://host[:port][/path]
 */
export const splitUrl = (url: string): UrlParts | undefined => {
	const match = /^([A-Za-z]+):\/\/(\[[0-9a-fA-F:.]+\]|[^/:?#@\s[\]]+)(?::([0-9]{1,5}))?([/?][^\s#]*)?$/.exec(url);
	if (match === null) {
		return undefined;
	}
	const [, scheme = "", host = "", port, path = "/"] = match;
	const portNumber = port === undefined ? undefined : Number(port);
	if (portNumber === 0 || (portNumber ?? 1) > 65_535) {
		return undefined;
	}
	return {
		scheme: scheme.toLowerCase(),
		host: host.startsWith("[") ? host.slice(1, -1) : host,
		port: portNumber,
		path: path.startsWith("/") ? path : `/${path}`,
	};
};
