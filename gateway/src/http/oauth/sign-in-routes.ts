import type { Hono } from "hono";
import type { SignIn } from "../../oauth/sign-in.js";
import { HttpError } from "../server/http-error.js";
import { allow, type HttpEnv, type Route } from "../server/route.js";

/** Where clients find the metadata of a resource: RFC 9728 section 3.1. */
const RESOURCE_METADATA = "/.well-known/oauth-protected-resource";

/** The routes by which clients sign in: before they are authenticated. */
export function addSignIn(app: Hono<HttpEnv>, signIn: SignIn): void {
	const show = showResource(signIn);
	app.all(RESOURCE_METADATA, allow("GET"), show);
	app.all(`${RESOURCE_METADATA}/mcp/:device?`, allow("GET"), show);
}

/** `GET /.well-known/oauth-protected-resource/mcp/DEVICE`; without a path, that of `/mcp`. */
function showResource({ resource }: SignIn): Route {
	return (c) => {
		const path = new URL(c.req.url).pathname.slice(RESOURCE_METADATA.length) || "/mcp";
		const metadata = resource.metadata(path);
		if (metadata === undefined) {
			throw new HttpError(404, "not-found", "not found");
		}
		return c.json(metadata);
	};
}
