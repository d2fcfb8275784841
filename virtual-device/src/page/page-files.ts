import { readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";

const TYPES: Readonly<Record<string, string>> = {
	html: "text/html; charset=utf-8",
	js: "text/javascript; charset=utf-8",
	css: "text/css; charset=utf-8",
};

/** The page runs its own script and nothing else: what a backend says can neither become markup nor load anything. */
const POLICY = [
	"default-src 'none'",
	"script-src 'self'",
	"style-src 'self'",
	"img-src data: blob:",
	"media-src blob:",
	"connect-src 'self'",
	"base-uri 'none'",
	"form-action 'none'",
	"frame-ancestors 'none'",
	"require-trusted-types-for 'script'",
	"trusted-types 'none'",
].join("; ");

const HEADERS = {
	"Content-Security-Policy": POLICY,
	"Cache-Control": "no-cache",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Referrer-Policy": "no-referrer",
	"X-Content-Type-Options": "nosniff",
};

/** Serves the files of a folder, in memory. */
export class PageFiles {
	readonly #files: ReadonlyMap<string, Buffer>;

	constructor(folder: string) {
		this.#files = new Map(readdirSync(folder).map((name) => [`/${name}`, readFileSync(join(folder, name))]));
	}

	/** Answers a request by its path; "/" is the page. */
	send({ method, url = "/" }: IncomingMessage, response: ServerResponse): void {
		const path = url === "/" ? "/index.html" : url;
		const body = this.#files.get(path);
		if (body === undefined) {
			reject(response, 404, "not found");
		} else if (method !== "GET" && method !== "HEAD") {
			response.setHeader("Allow", "GET, HEAD");
			reject(response, 405, "method not allowed");
		} else {
			const type = TYPES[path.slice(path.lastIndexOf(".") + 1)] ?? "application/octet-stream";
			response.writeHead(200, { ...HEADERS, "Content-Type": type, "Content-Length": body.byteLength });
			response.end(method === "HEAD" ? undefined : body);
		}
	}
}

/** Answers a request with an error, as text. */
export function reject(response: ServerResponse, status: number, reason: string): void {
	response.writeHead(status, { ...HEADERS, "Content-Type": "text/plain; charset=utf-8" });
	response.end(`${reason}\n`);
}
