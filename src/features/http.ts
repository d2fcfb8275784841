import type { Feature } from "../core/listener.js";
import { splitUrl, type UrlParts } from "../core/text/url.js";
import type { Http, HttpRequest, HttpResponse } from "../hardware/hardware.js";
import { Exchange, type ExchangeOptions } from "../protocols/http-exchange.js";
import { messageLimits } from "../protocols/transport.js";

/** Maximum number of concurrent requests. Each has its own connection, and more would fill the heap. */
const MAX_REQUESTS = 2;

/** Redirects of a request that are followed. */
const MAX_REDIRECTS = 5;

/** HTTP on the platform's client class. Each request has its own connection, which closes with it. */
export const makeHttp = (options: ExchangeOptions): Http => {
	let running = 0;
	return {
		async request(request) {
			if (running >= MAX_REQUESTS) {
				throw new Error(`${request.url}: too many HTTP requests in progress (limit ${MAX_REQUESTS})`);
			}
			running += 1;
			try {
				let current = request;
				for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
					const response = await new Exchange(current, options).response;
					const next = redirected(current, response);
					if (next === undefined) {
						return expectOk(response, request);
					}
					current = next;
				}
				throw new Error(`${request.url}: more than ${MAX_REDIRECTS} redirects`);
			} finally {
				running -= 1;
			}
		},
	};
};

/**
 * @throws Error with the URL and the status, if the request must succeed and the status is not 2xx
 * @internal exported for doubles of tests
 */
export const expectOk = (response: HttpResponse, { url, mustSucceed }: HttpRequest): HttpResponse => {
	const { status, location } = response;
	if (mustSucceed && (status < 200 || status > 299)) {
		const target =
			location === undefined ? "" : ` (redirect to ${JSON.stringify(location.slice(0, 200))} not followed)`;
		throw new Error(`${url} answered with HTTP status ${status}${target}`);
	}
	return response;
};

/** https://www.rfc-editor.org/rfc/rfc9110#section-15.4 */
const REDIRECTS: readonly number[] = Object.freeze([301, 302, 303, 307, 308]);
const SEE_OTHER = 303;

/** The header that another server must not receive, in lower case. */
const CREDENTIALS = "authorization";

/**
 * The request that a redirect asks for. The method and body stay, except after 303.
 *
 * @returns undefined if the response is not a redirect, or if the body was read from a source, which cannot be read again
 * @throws Error if the redirect leads from https to http, or to an unusable URL
 */
const redirected = (request: HttpRequest, { status, location }: HttpResponse): HttpRequest | undefined => {
	if (location === undefined || !REDIRECTS.includes(status)) {
		return undefined;
	}
	const { url, body = [], headers = new Map<string, string>() } = request;
	const isGet = status === SEE_OTHER || request.method === "GET";
	if (!isGet && body.some((part) => !(part instanceof ArrayBuffer))) {
		return undefined;
	}
	const from = splitUrl(url) as UrlParts;
	const next = resolve(from, location);
	const to = splitUrl(next);
	if (to === undefined || (to.scheme !== "http" && to.scheme !== "https")) {
		throw new Error(`${url}: redirect to an unusable URL: ${JSON.stringify(location.slice(0, 200))}`);
	}
	if (from.scheme === "https" && to.scheme === "http") {
		throw new Error(`${url}: redirect from https to http rejected`);
	}
	const isSame = isSameServer(from, to);
	const kept = [...headers].filter(([name]) => isSame || name.toLowerCase() !== CREDENTIALS);
	return { ...request, ...(isGet && { method: "GET", body: [] }), url: next, headers: new Map(kept) };
};

/** An absolute URL, without its fragment, from the value of a `Location` header. */
const resolve = ({ scheme, host, port, path }: UrlParts, location: string): string => {
	const target = location.trim().split("#", 1)[0] as string;
	if (/^[A-Za-z][A-Za-z0-9+.-]*:/.test(target)) {
		return target;
	}
	if (target.startsWith("//")) {
		return `${scheme}:${target}`;
	}
	const server = `${scheme}://${host.includes(":") ? `[${host}]` : host}${port === undefined ? "" : `:${port}`}`;
	if (target.startsWith("/")) {
		return `${server}${target}`;
	}
	const file = path.split("?", 1)[0] as string;
	return target.startsWith("?") || target === ""
		? `${server}${target === "" ? path : `${file}${target}`}`
		: `${server}${file.slice(0, file.lastIndexOf("/") + 1)}${target}`;
};

/** Whether both URLs name one server. From http to https the default ports differ. */
const isSameServer = (from: UrlParts, to: UrlParts): boolean =>
	from.host === to.host &&
	(from.scheme === to.scheme ? portOf(from) === portOf(to) : portOf(from) === 80 && portOf(to) === 443);

const portOf = ({ scheme, port = scheme === "https" ? 443 : 80 }: UrlParts): number => port;

/** The part `http`. */
export default {
	name: "http",
	rescue: true,
	start(app) {
		const { network, timer } = app;
		const { maxQueuedBytes: maxBytes } = messageLimits(app.setting("chunkBytes"));
		Object.assign(app.board, { http: makeHttp({ network: network.clients, timer, maxBytes }) });
	},
} satisfies Feature;
