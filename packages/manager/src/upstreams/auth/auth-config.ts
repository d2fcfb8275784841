import type { AuthProvider } from "@modelcontextprotocol/client";
import * as z from "zod";

const SECRET = z.string().min(1);

/** How requests to a server over HTTP or WebSocket are authenticated, as in a servers file. */
export const AUTH = z.discriminatedUnion("type", [
	z.strictObject({ type: z.literal("bearer"), token: SECRET.describe("Sent as Authorization: Bearer") }),
	z.strictObject({ type: z.literal("basic"), username: SECRET, password: z.string() }),
	z.strictObject({
		type: z.literal("api-key"),
		key: SECRET,
		header: z.string().min(1).default("X-API-Key").describe("The header that carries the key"),
	}),
	z.strictObject({
		type: z.literal("oauth2"),
		grant: z
			.enum(["authorization_code", "client_credentials"])
			.default("authorization_code")
			.describe("authorization_code: a person signs in once; client_credentials: the client id and secret do"),
		clientId: SECRET.optional().describe("Of a registered client. Default: the client registers itself"),
		clientSecret: SECRET.optional(),
		clientMetadataUrl: z
			.string()
			.regex(/^https:\/\/[^/]+\/./, "expected an https URL with a path")
			.optional()
			.describe("Of a client ID metadata document, which a server may accept in place of a registration"),
		scope: SECRET.optional().describe("Scopes to ask for, separated by spaces. Default: those that the server names"),
	}),
]);

type AuthOfFile = z.input<typeof AUTH>;

/** The settings of OAuth 2.1. */
export type OAuthSettings = Extract<z.output<typeof AUTH>, { type: "oauth2" }>;

/** Authentication of a program's own: `token` is called before each request, `onUnauthorized` after status 401. */
export type CustomAuth = { readonly type: "custom" } & AuthProvider;

/** How requests to a server are authenticated. Only programs can use `custom`. */
export type McpAuthProvider = AuthOfFile | CustomAuth;

/** The headers of a fixed secret; undefined for other kinds. */
export function authHeaders(input: McpAuthProvider): Readonly<Record<string, string>> | undefined {
	if (input.type === "custom") {
		return undefined;
	}
	const auth = AUTH.parse(input);
	switch (auth.type) {
		case "bearer":
			return { Authorization: `Bearer ${auth.token}` };
		case "basic":
			return { Authorization: `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString("base64")}` };
		case "api-key":
			return { [auth.header]: auth.key };
		default:
			return undefined;
	}
}
