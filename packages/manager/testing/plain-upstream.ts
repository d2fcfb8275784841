// An MCP server without sessions and streams: each answer is plain JSON. It tells what it was asked.

import type { IncomingHttpHeaders } from "node:http";
import type { TestContext } from "node:test";
import { initialized, serveResults } from "./upstreams.js";

const RESULTS: Readonly<Record<string, object>> = {
	initialize: initialized("2025-06-18", "plain"),
	"tools/list": { tools: [{ name: "count", inputSchema: { type: "object" } }] },
	"tools/call": { content: [{ type: "text", text: "counted" }] },
};

export const plainResult = (method: string): object => RESULTS[method] ?? {};

export async function startPlainUpstream(t: TestContext) {
	const methods: string[] = [];
	const headers: IncomingHttpHeaders[] = [];
	let isHanging = false;
	const url = await serveResults(t, ({ method }, response) => {
		methods.push(method);
		headers.push(response.req.headers);
		return isHanging ? undefined : plainResult(method);
	});
	/** From now on it accepts requests, and answers none. */
	const hang = (): void => {
		isHanging = true;
	};
	return { url, methods, headers, hang };
}
