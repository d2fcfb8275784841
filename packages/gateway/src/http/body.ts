import type { IncomingMessage } from "node:http";
import { isJsonContentType } from "@modelcontextprotocol/server";
import { describeIssues, jsonIn, MAX_NESTING, nestsDeeper } from "xs-mcp-manager/core";
import type * as z from "zod";
import { HttpError } from "./http-error.js";

/**
 * Reads a request's JSON from Node's stream: hono/body-limit makes a web stream of every body first, which costs three
 * times as much as the rest of a small request. The server ends one that is too slow.
 *
 * @param maxBytes rejects with HttpError (413) when there is more, before it is in memory
 */
export async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
	if (!isJsonContentType(request.headers["content-type"] ?? "")) {
		throw new HttpError(415, "malformed", "Content-Type: expected application/json");
	}
	if (request.headers["content-encoding"] !== undefined) {
		throw new HttpError(415, "malformed", "Content-Encoding: expected none");
	}
	const body = jsonIn(await readBody(request, maxBytes));
	if (body === undefined) {
		throw new HttpError(400, "not-json", "request body is not JSON");
	}
	if (nestsDeeper(body, MAX_NESTING)) {
		throw new HttpError(400, "malformed", `request body nested deeper than ${MAX_NESTING} levels`);
	}
	return body;
}

/** Reads a request's JSON. Rejects with HttpError (400) that names the members that are not as in the schema; `root`: the whole. */
export async function readJsonAs<T>(
	schema: z.ZodType<T>,
	root: string,
	request: IncomingMessage,
	maxBytes: number,
): Promise<T> {
	const { data, error } = schema.safeParse(await readJson(request, maxBytes));
	if (error !== undefined) {
		throw new HttpError(400, "malformed", describeIssues(error.issues, root));
	}
	return data;
}

/**
 * Reads the fields of a form (application/x-www-form-urlencoded).
 *
 * @param maxBytes rejects with HttpError (413) when there is more, before it is in memory
 */
export async function readFields(request: IncomingMessage, maxBytes: number): Promise<URLSearchParams> {
	if (!/^application\/x-www-form-urlencoded *(;|$)/i.test(request.headers["content-type"] ?? "")) {
		throw new HttpError(415, "malformed", "Content-Type: expected application/x-www-form-urlencoded");
	}
	return new URLSearchParams(await readBody(request, maxBytes));
}

async function readBody(request: IncomingMessage, maxBytes: number): Promise<string> {
	const tooLarge = (): HttpError => new HttpError(413, "too-large", `request body too large (limit ${maxBytes} bytes)`);
	if (Number(request.headers["content-length"] ?? 0) > maxBytes) {
		throw tooLarge();
	}
	const chunks: Buffer[] = [];
	let bytes = 0;
	return await new Promise((resolve, reject) => {
		request.on("data", (chunk: Buffer) => {
			bytes += chunk.length;
			if (bytes > maxBytes) {
				request.removeAllListeners("data");
				reject(tooLarge());
			} else {
				chunks.push(chunk);
			}
		});
		request.on("end", () => resolve(Buffer.concat(chunks).toString()));
		request.on("error", reject);
	});
}
