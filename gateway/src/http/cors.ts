import { cors } from "hono/cors";
import type { Middleware } from "./route.js";

/** No list of headers: those of MCP 2026-07-28 are named by tools (`Mcp-Param-…`). */
const CORS = {
	origin: (origin: string) => origin,
	allowMethods: ["GET", "POST", "PATCH", "DELETE"],
	exposeHeaders: ["Mcp-Session-Id", "MCP-Protocol-Version", "WWW-Authenticate", "Retry-After"],
	maxAge: 600,
};

const answerCors = cors(CORS);

/** CORS, for pages in browsers: nothing else sends an Origin. It must have been checked before. */
export const allowOrigin: Middleware = async (c, next) => {
	if (c.env.incoming.headers.origin !== undefined) {
		const preflight = await answerCors(c, async () => {});
		if (preflight !== undefined) {
			return preflight;
		}
		c.env.outgoing.setHeaders(c.res.headers);
	}
	return await next();
};
