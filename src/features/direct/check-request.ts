import { MAX_HEADERS, type ServedRequest } from "../../protocols/http-server.js";

/** Path of the MCP endpoint. */
export const MCP_PATH = "/mcp";

/** The requirements of a request. */
export interface RequestRules {
	/** The bearer token; empty if none is needed. */
	readonly token: string;
	/** The device's own name, without `.local`. */
	readonly hostname: string;
	/** The largest body in bytes. */
	readonly maxBytes: number;
}

/** The reason why a request is rejected. */
export interface Rejection {
	readonly status: number;
	readonly reason: string;
	/** A header required by the status. */
	readonly header?: readonly [name: string, value: string];
}

const CHALLENGE = Object.freeze(["www-authenticate", "Bearer"] as const);
const ALLOW = Object.freeze(["allow", "POST"] as const);

/** Checks a request's head, before its body is read. @returns undefined if it is accepted */
export const checkRequest = ({ method, path, headers }: ServedRequest, rules: RequestRules): Rejection | undefined => {
	if (headers.size > MAX_HEADERS) {
		return { status: 431, reason: `too many headers (limit ${MAX_HEADERS})` };
	}
	const host = hostnameOf(headers.get("host") ?? "");
	if (!isOwnHost(host, rules.hostname)) {
		return { status: 403, reason: "Host: expected this device's address, or its name on the local network" };
	}
	if (!isOwnOrigin(headers.get("origin"), host, rules.hostname)) {
		return { status: 403, reason: "Origin: requests from other web sites are rejected" };
	}
	if ((path.split("?", 1)[0] as string).replace(/\/+$/, "") !== MCP_PATH) {
		return { status: 404, reason: `MCP is at ${MCP_PATH}` };
	}
	const [, token = ""] = /^bearer +(\S+)$/i.exec(headers.get("authorization") ?? "") ?? [];
	if (rules.token !== "" && !isSame(token, rules.token)) {
		return { status: 401, reason: "Authorization: expected the device's bearer token", header: CHALLENGE };
	}
	if (method !== "POST") {
		return { status: 405, reason: `${MCP_PATH} takes POST only`, header: ALLOW };
	}
	return checkBody(headers, rules.maxBytes);
};

const checkBody = (headers: ServedRequest["headers"], maxBytes: number): Rejection | undefined => {
	if (mediaType(headers.get("content-type") ?? "") !== "application/json") {
		return { status: 415, reason: "Content-Type: expected application/json" };
	}
	if (!accepts(headers.get("accept") ?? "*/*")) {
		return { status: 406, reason: "Accept: expected application/json and text/event-stream" };
	}
	const length = headers.get("content-length");
	if (headers.has("transfer-encoding") || length === undefined) {
		return { status: 411, reason: "Content-Length: expected the length of the body" };
	}
	if (!/^\d{1,9}$/.test(length)) {
		return { status: 400, reason: "Content-Length: expected a number" };
	}
	return Number(length) > maxBytes
		? { status: 413, reason: `the body has ${length} bytes, at most ${maxBytes} are accepted` }
		: undefined;
};

/** Clients must accept both types, because the server chooses (MCP 2025-11-25, basic/transports). */
const accepts = (accept: string): boolean => {
	const ranges = accept.split(",").map(mediaType);
	const takes = (kind: string, type: string): boolean =>
		["*/*", `${kind}/*`, `${kind}/${type}`].some((range) => ranges.includes(range));
	return takes("application", "json") && takes("text", "event-stream");
};

const mediaType = (value: string): string => (value.split(";", 1)[0] as string).trim().toLowerCase();

/** The hostname of an authority, without its port, in lower case. */
const hostnameOf = (authority: string): string => authority.toLowerCase().replace(/:\d*$/, "");

/** Whether a hostname can only mean this device: DNS rebinding cannot make a browser send such a name. */
const isOwnHost = (host: string, hostname: string): boolean =>
	/^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/.test(host) ||
	host === "localhost" ||
	host === `${hostname.toLowerCase()}.local`;

/** Browsers send the origin of the script. Other clients send no `Origin`. */
const isOwnOrigin = (origin: string | undefined, host: string, hostname: string): boolean => {
	if (origin === undefined) {
		return true;
	}
	const match = /^https?:\/\/([^/]+)$/i.exec(origin);
	const site = hostnameOf(match?.[1] ?? "");
	return (
		/^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(site) || site === host || site === `${hostname.toLowerCase()}.local`
	);
};

/** Compares in constant time, so that the duration reveals nothing about the token. */
const isSame = (given: string, token: string): boolean => {
	const expected = new Uint8Array(ArrayBuffer.fromString(token));
	const bytes = new Uint8Array(ArrayBuffer.fromString(given));
	let difference = expected.byteLength ^ bytes.byteLength;
	for (let at = 0; at < expected.byteLength; at += 1) {
		difference |= (expected[at] as number) ^ (bytes[at] ?? 0);
	}
	return difference === 0;
};
