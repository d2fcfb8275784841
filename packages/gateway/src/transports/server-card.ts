import { isIP } from "node:net";
import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";
import type { Hono } from "hono";
import { cors } from "hono/cors";
import { etag } from "hono/etag";
import { REVISION_OF_STATELESS } from "xs-mcp-manager/core";
import { SERVER_INFO } from "../catalog/tool-hints.js";
import type { HttpEnv, Middleware } from "../http/route.js";
import type { RequestGuard } from "../oauth/request-guard.js";
import { GATEWAY_DESCRIPTION } from "../version.js";

/** The media types of a card, and of the catalog that leads to it. */
const CARD_TYPE = "application/mcp-server-card+json";
const CATALOG_TYPE = "application/ai-catalog+json";

export const CARD_PATH = "/mcp/server-card";

/** Seconds for which a card may be cached. */
const MAX_AGE = 3_600;

/** The gateway as clients find it before they connect: a server card (SEP-2127). It names no device. */
function serverCard(origin: string): object {
	const { name, title, version, icons } = SERVER_INFO;
	return {
		$schema: "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
		name: `${reversed(origin)}/${name}`,
		version,
		title,
		description: GATEWAY_DESCRIPTION,
		icons,
		remotes: [
			{
				type: "streamable-http",
				url: `${origin}/mcp`,
				supportedProtocolVersions: [...new Set([REVISION_OF_STATELESS, ...SUPPORTED_PROTOCOL_VERSIONS])],
			},
		],
	};
}

/** The catalog of the gateway's host, which has the card alone. */
function aiCatalog(origin: string): object {
	const { hostname } = new URL(origin);
	const identifier = `urn:air:${hostname}:mcp:${SERVER_INFO.name}`;
	return { specVersion: "1.0", entries: [{ identifier, type: CARD_TYPE, url: `${origin}${CARD_PATH}` }] };
}

/**
 * Serves the card and the catalog, to everybody: both are public.
 *
 * @param origin at which clients reach the gateway from anywhere
 */
export function addServerCard(app: Hono<HttpEnv>, origin: string, guard: RequestGuard): void {
	const documents = [
		["/.well-known/ai-catalog.json", CATALOG_TYPE, JSON.stringify(aiCatalog(origin))],
		[CARD_PATH, CARD_TYPE, JSON.stringify(serverCard(origin))],
	] as const;
	const answerCors = cors({
		origin: "*",
		allowMethods: ["GET"],
		allowHeaders: ["Content-Type", "If-None-Match"],
		exposeHeaders: ["ETag"],
	});
	const checkRate: Middleware = async (c, next) => {
		await guard.checkRate(c.env.incoming);
		await next();
	};
	for (const [path, type, text] of documents) {
		// Other methods are for a device of this name.
		app.options(path, answerCors);
		app.get(path, checkRate, answerCors, etag(), (c) =>
			c.body(text, 200, { "Content-Type": type, "Cache-Control": `public, max-age=${MAX_AGE}` }),
		);
	}
}

/** The reverse-DNS form of a host, which begins the name of a server. An address stays as it is. */
function reversed(origin: string): string {
	const host = new URL(origin).hostname.replace(/[[\]]/g, "");
	return isIP(host) === 0 ? host.split(".").reverse().join(".") : host.replaceAll(":", "-");
}
