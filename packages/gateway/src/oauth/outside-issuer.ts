import type { JWTPayload, JWTVerifyGetKey } from "jose";
import { isObject } from "xs-mcp-firmware/core/text/json";
import * as z from "zod";
import { type AccessGrant, isScope, limitsOf, type TokenIssuer } from "../config/access.js";
import type { Configuration } from "../config/settings.js";
import { GatewayError } from "../gateway-error.js";
import type { ProtectedResource } from "./protected-resource.js";

/** Signatures with a public key only: a symmetric one could be made by everyone who can verify it. */
const ALGORITHMS = "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519".split(" ");

/** Claims that only ID tokens have: OpenID Connect Core §2, §3.3.2.11. */
const ID_CLAIMS = ["nonce", "at_hash", "c_hash"];

/** Seconds by which the issuer's clock may be wrong. */
const CLOCK_TOLERANCE = 30;

/** Milliseconds for the issuer to answer. */
const TIMEOUT = 5_000;

/** An issuer of tokens for programs has no other members, which the SDK's discovery requires. */
const METADATA = z.object({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });

/**
 * Makes the issuer of an authorization server outside (Keycloak, Auth0, Entra), whose access tokens are JWTs: RFC 9068, RFC 8725.
 *
 * @param issuer its identifier, a URL: the claim `iss`
 */
export function openOutsideIssuer(issuer: string, settings: Configuration, resource: ProtectedResource): TokenIssuer {
	/** Finds the issuer's public keys; undefined until they are needed, and after the issuer could not be asked. */
	let keys: Promise<JWTVerifyGetKey> | undefined;

	const findKeys = async (): Promise<JWTVerifyGetKey> => {
		keys ??= readKeys(issuer);
		try {
			return await keys;
		} catch (error) {
			keys = undefined;
			throw unavailable(`cannot get the metadata of ${issuer}`, error as Error);
		}
	};

	const verify: TokenIssuer["verify"] = async (token) => {
		// Not a JWT: the issuer need not be asked.
		if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) {
			return undefined;
		}
		const found = await findKeys();
		// Loaded on demand: most gateways have no issuer outside.
		const { errors, jwtVerify } = await import("jose");
		try {
			const { payload, protectedHeader } = await jwtVerify(token, found, {
				issuer,
				algorithms: ALGORITHMS,
				clockTolerance: CLOCK_TOLERANCE,
				requiredClaims: ["exp", "sub", "aud"],
			});
			return isAccessToken(settings, protectedHeader.typ, payload) ? grantOf(settings, resource, payload) : undefined;
		} catch (error) {
			if (error instanceof errors.JWTExpired) {
				return "expired";
			}
			// A response other than 200 is a plain JOSEError; each fault of a token has its class.
			const isOfToken = error instanceof errors.JOSEError && error.code !== "ERR_JOSE_GENERIC";
			if (isOfToken && !(error instanceof errors.JWKSTimeout) && !(error instanceof errors.JWKSInvalid)) {
				return undefined;
			}
			throw unavailable(`cannot get the keys of ${issuer}`, error as Error);
		}
	};
	return { verify };
}

/** Returns whether a token is meant for resources: an ID token tells its client who has signed in (RFC 9068 §4, §5). */
function isAccessToken({ issuerTokenTypes }: Configuration, typ: string | undefined, payload: JWTPayload): boolean {
	const mediaType = (type: string): string => type.toLowerCase().replace(/^application\//, "");
	const isAccepted = issuerTokenTypes.some((each) => mediaType(each) === mediaType(typ ?? "JWT"));
	return isAccepted && !ID_CLAIMS.some((claim) => claim in payload) && payload.typ !== "ID";
}

function grantOf(settings: Configuration, resource: ProtectedResource, payload: JWTPayload): AccessGrant {
	const { issuerAudiences, issuerClaims, issuerScopes } = settings;
	const { aud = [], exp = 0, sub } = payload;
	const audience = [aud].flat().flatMap((each) => {
		const name = issuerAudiences.includes(each) ? "/mcp" : each;
		return URL.canParse(name) || name === "/mcp" ? (resource.identify(name) ?? []) : [];
	});
	const claims = issuerClaims.flatMap((claim) => valueAt(payload, claim));
	const values = claims.flatMap((each) => (typeof each === "string" ? each.split(" ") : []));
	const scopes = values.flatMap((value) => issuerScopes.get(value)?.split(" ") ?? (isScope(value) ? [value] : []));
	return {
		principal: `oauth:${sub?.slice(0, 256)}`,
		limits: limitsOf(scopes),
		audience,
		isCurrent: () => (exp + CLOCK_TOLERANCE) * 1_000 > Date.now(),
	};
}

/** The issuer cannot be asked now. */
function unavailable(what: string, { message }: Error): GatewayError {
	return new GatewayError("busy", `${what}: ${message}`, { headers: { "Retry-After": "10" } });
}

/** Finds the keys by the issuer's metadata (RFC 8414 section 3, OpenID Connect Discovery section 4). */
async function readKeys(issuer: string): Promise<JWTVerifyGetKey> {
	const { origin, pathname } = new URL(issuer);
	const path = pathname.replace(/\/$/, "");
	for (const at of [`/.well-known/oauth-authorization-server${path}`, `${path}/.well-known/openid-configuration`]) {
		const response = await fetch(`${origin}${at}`, { redirect: "error", signal: AbortSignal.timeout(TIMEOUT) });
		if (response.ok) {
			const metadata = METADATA.parse(await response.json());
			// RFC 8414 section 3.3: other metadata could name an attacker's keys.
			if (metadata.issuer !== issuer) {
				throw new Error(`the metadata is of another issuer: ${metadata.issuer}`);
			}
			const { createRemoteJWKSet } = await import("jose");
			return createRemoteJWKSet(new URL(metadata.jwks_uri), { timeoutDuration: TIMEOUT });
		}
		await response.body?.cancel();
	}
	throw new Error("none found");
}

/** A claim by its name; if no claim has that name, by its path with dots. */
function valueAt(payload: JWTPayload, claim: string): unknown {
	if (Object.hasOwn(payload, claim)) {
		return payload[claim];
	}
	return claim.split(".").reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), payload);
}
