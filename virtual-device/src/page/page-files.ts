import { readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { contentTypeOf, pagePolicy } from "../../../gateway/src/http/page-headers.js";

const HEADERS = {
	"Content-Security-Policy": pagePolicy("data: blob:", "blob:"),
	"Cache-Control": "no-cache",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Referrer-Policy": "no-referrer",
	"X-Content-Type-Options": "nosniff",
};

/** Serves the files of a folder, in memory: answers a request by its path; "/" is the page. */
export function serveFiles(folder: string): (request: IncomingMessage, response: ServerResponse) => void {
	const files = new Map(readdirSync(folder).map((name) => [`/${name}`, readFileSync(join(folder, name))]));
	return ({ method, url = "/" }, response) => {
		const path = url === "/" ? "/index.html" : url;
		const body = files.get(path);
		if (body === undefined) {
			reject(response, 404, "not found");
		} else if (method !== "GET" && method !== "HEAD") {
			response.setHeader("Allow", "GET, HEAD");
			reject(response, 405, "method not allowed");
		} else {
			const headers = { "Content-Type": contentTypeOf(path), "Content-Length": body.byteLength };
			response.writeHead(200, { ...HEADERS, ...headers });
			response.end(method === "HEAD" ? undefined : body);
		}
	};
}

/** Answers a request with an error, as text. */
export function reject(response: ServerResponse, status: number, reason: string): void {
	response.writeHead(status, { ...HEADERS, "Content-Type": "text/plain; charset=utf-8" });
	response.end(`${reason}\n`);
}
