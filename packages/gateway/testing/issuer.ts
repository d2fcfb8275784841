import { createServer } from "node:http";
import type { TestContext } from "node:test";
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from "jose";
import { listen } from "../../../host-test/support/testing.js";

export interface TestIssuer {
	readonly url: string;
	/** Status of every answer from now on; undefined: its metadata and keys. */
	failure: number | undefined;
	/** A token with these claims, for the user "ada", valid for a minute unless they say otherwise. */
	sign(claims: Record<string, unknown>, options?: SignOptions): Promise<string>;
}

interface SignOptions {
	readonly key?: CryptoKey | Uint8Array;
	readonly alg?: string;
	readonly kid?: string;
	/** The type of token; undefined: none. Default: at+jwt. */
	readonly typ?: string | undefined;
	readonly without?: readonly string[];
}

export async function startIssuer(test: TestContext): Promise<TestIssuer> {
	const { publicKey, privateKey } = await generateKeyPair("ES256");
	const keys = { keys: [{ ...(await exportJWK(publicKey)), kid: "one", alg: "ES256", use: "sig" }] };
	const server = createServer(({ url }, response) => {
		const bodies: Record<string, object> = {
			"/realms/home/.well-known/openid-configuration": { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` },
			"/realms/home/keys": keys,
		};
		const body = bodies[url as string];
		response.writeHead(issuer.failure ?? (body ? 200 : 404), { "Content-Type": "application/json" });
		response.end(JSON.stringify(body ?? {}));
	});
	const issuer: TestIssuer = {
		url: `http://127.0.0.1:${await listen(test, server)}/realms/home`,
		failure: undefined,
		async sign(claims, { key = privateKey, alg = "ES256", kid = "one", without = [], ...header } = {}) {
			const { typ } = { typ: "at+jwt", ...header };
			const now = Math.floor(Date.now() / 1_000);
			const all = { iss: issuer.url, sub: "ada", iat: now, exp: now + 600, ...claims };
			const kept = Object.fromEntries(Object.entries(all).filter(([name]) => !without.includes(name)));
			return await new SignJWT(kept).setProtectedHeader({ alg, kid, ...(typ !== undefined && { typ }) }).sign(key);
		},
	};
	return issuer;
}
