import { ProtocolError } from "./protocol-error.js";

/** The parts of a backend's URL. */
export interface BackendUrl {
	/** "ws", "wss", "mqtt", "mqtts". */
	readonly scheme: string;
	readonly host: string;
	/** `undefined` when the URL names none. */
	readonly port: number | undefined;
	/** With the query; "/" when the URL names none. */
	readonly path: string;
}

const URL_PATTERN = /^([a-z]+):\/\/(\[[0-9a-fA-F:.]+\]|[^/:?#@\s[\]]+)(?::([0-9]{1,5}))?([/?][^\s#]*)?$/;

/**
 * Takes a backend's URL apart. XS has no `URL`.
 *
 * @throws ProtocolError "bad-config"
 */
export function parseUrl(url: string): BackendUrl {
	const match = URL_PATTERN.exec(url);
	const [, scheme, host, port, path = "/"] = match ?? [];
	if (scheme === undefined || host === undefined || Number(port ?? 1) > 65_535 || Number(port ?? 1) < 1) {
		throw new ProtocolError("bad-config", `backend: expected scheme://host[:port][/path], got ${JSON.stringify(url)}`);
	}
	return {
		scheme,
		host: host.startsWith("[") ? host.slice(1, -1) : host,
		port: port === undefined ? undefined : Number(port),
		path: path.startsWith("/") ? path : `/${path}`,
	};
}
