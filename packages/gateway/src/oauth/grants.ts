import { createHash, randomBytes } from "node:crypto";
import type { OAuthTokens } from "@modelcontextprotocol/server";
import { digest, isMade, type Store } from "xs-mcp-manager/core";
import * as z from "zod";
import { type AccessGrant, LIMITS, type Limits, scopesOf } from "../config/access.js";
import { TOKEN_PREFIX, type TokenStore } from "../config/token-store.js";
import type { DeviceKey } from "../devices/device-key.js";
import { GatewayError } from "../gateway-error.js";
import { requestSchema } from "./clients.js";

/** Milliseconds for which an access token, and a sign-in that is not used are valid. */
const ACCESS_LIFETIME = 3_600_000;
const GRANT_LIFETIME = 30 * 86_400_000;

/** Milliseconds in which a refresh token is answered again, with the same tokens: the answer may have been lost. */
const REFRESH_GRACE = 30_000;

/** Milliseconds for which a code is valid. */
const CODE_LIFETIME = 60_000;

/** Milliseconds for which a code is remembered after that, so that its second use is noticed. */
const CODE_MEMORY = 600_000;

/** The operator's approval. */
const APPROVAL = requestSchema
	.pick({ client: true, redirectUri: true, challenge: true, audience: true })
	.extend({ limits: z.object(LIMITS) });

/** An approval that a client can exchange for tokens, once. */
const CODE = z.object({
	approval: APPROVAL,
	/** In milliseconds since 1970. */
	expires: z.number(),
	/** The id of the sign-in that it was exchanged for; undefined if it was not used. */
	used: z.string().optional(),
});

export type Approval = Readonly<z.infer<typeof APPROVAL>>;
type Code = Readonly<z.infer<typeof CODE>>;

/** Why a code that is used again gives no tokens, for the log. */
const USED = "code used before: its sign-in has ended";

/** A client's request for tokens in exchange for a code. */
export interface CodeExchange {
	readonly clientId: string;
	/** OAuth 2.1 has none here; clients of 2.0 repeat theirs. */
	readonly redirectUri: string | undefined;
	readonly verifier: string;
	readonly audience: string | undefined;
}

/** The answer of the token endpoint: RFC 6749 section 5.1. */
type TokenAnswer = Required<Omit<OAuthTokens, "id_token" | "issuer">>;

/** The sign-ins that the operator has approved. */
export type Grants = ReturnType<typeof makeGrants>;

/**
 * Makes the sign-ins that the operator has approved. Each is a record of the token store with the hashes of its newest access and
 * refresh token, so whatever removes the record ends the sign-in everywhere. Both tokens name it: `xsmcp_ID.SECRET`.
 *
 * @param store the short-lived store, which has the codes by their hash
 */
export function makeGrants(tokens: TokenStore, store: Store, key: DeviceKey) {
	/** A code that the client can exchange once; undefined if the request has been approved before. Rejects with StoreError. */
	const approve = async (requestId: string, approval: Approval): Promise<string | undefined> => {
		for (const { key: code, value, revision } of store.list("code/")) {
			const expires = CODE.safeParse(value).data?.expires ?? 0;
			if (expires + CODE_MEMORY < store.now) {
				await store.delete(code, revision);
			}
		}
		const secret = key.derive("oauth code", requestId);
		const code: Code = { approval, expires: store.now + CODE_LIFETIME };
		return (await isMade(store.set(keyOf(secret), code, 0))) ? secret : undefined;
	};

	/**
	 * Exchanges a code for tokens (OAuth 2.1 section 4.1.3). A code that is used again ends the sign-in that it began: one of
	 * the two users has stolen it. The sign-in is stored before its code is marked as used, so that a second use always finds it.
	 *
	 * Rejects with GatewayError "invalid_grant", or "busy" if there are too many sign-ins, and with StoreError.
	 */
	const exchange = async (secret: string, given: CodeExchange): Promise<TokenAnswer> => {
		const id = randomBytes(16).toString("base64url");
		if (codeOf(secret) === undefined) {
			// Another gateway may have stored it just before.
			await store.sync();
		}
		const code = codeOf(secret);
		const problem = code === undefined ? "unknown code" : problemOf(code, given, tokens.now);
		try {
			const answer = code && problem === undefined ? await begin(id, code.approval) : undefined;
			const before = await useCode(secret, id);
			if (answer !== undefined && before?.used === undefined) {
				return answer;
			}
			if (before?.used !== undefined) {
				await end(before.used);
			}
			throw unusable(given.clientId, problem ?? USED);
		} catch (error) {
			// Nobody gets its tokens. If this fails, too, it expires.
			await end(id).catch(() => {});
			throw error;
		}
	};

	/**
	 * Exchanges a refresh token for new tokens; the old ones are no longer valid (OAuth 2.1 section 4.3.1). For 30 s it has the
	 * same answer again, unless the new one was used. Later, its use ends the sign-in. Rejects with GatewayError and StoreError.
	 */
	const refresh = async (secret: string, clientId: string, audience: string | undefined): Promise<TokenAnswer> => {
		const id = idIn(secret);
		let answered: TokenAnswer | undefined;
		let why = "unknown refresh token";
		await tokens.changeSignIn(id, (record) => {
			// Another gateway may have been faster with the attempt before.
			answered = undefined;
			if (record.grant.client !== clientId || (audience !== undefined && audience !== record.grant.audience)) {
				why = "refresh token of another client or resource";
				return record;
			}
			const { now } = tokens;
			const { previous } = record.grant;
			const { answer, access, refresh, accessExpires, expires } = issue(id, record, secret);
			if (previous?.refresh === digest(secret) && now < Date.parse(previous.until)) {
				const left = Date.parse(record.grant.accessExpires) - now;
				answered = { ...answer, expires_in: Math.floor(left / 1_000) };
				return record;
			}
			if (record.grant.refresh !== digest(secret)) {
				why = "refresh token used before: its sign-in has ended";
				return undefined;
			}
			answered = answer;
			const replaced = { refresh: record.grant.refresh, until: new Date(now + REFRESH_GRACE).toISOString() };
			return { ...record, expires, grant: { ...record.grant, access, refresh, accessExpires, previous: replaced } };
		});
		if (answered === undefined) {
			throw unusable(clientId, why);
		}
		return answered;
	};

	/** Ends the sign-in of an access or refresh token, if it is one of this client (RFC 7009). */
	const revoke = async (secret: string, clientId: string): Promise<void> => {
		await tokens.changeSignIn(idIn(secret), (record) => (record.grant.client === clientId ? undefined : record));
	};

	const verify = async (token: string): Promise<AccessGrant | "expired" | undefined> => {
		const record = tokens.signIn(idIn(token));
		if (record === undefined || record.grant.access !== digest(token)) {
			return undefined;
		}
		const { name, grant, sha256 } = record;
		if (Date.parse(grant.accessExpires) <= tokens.now) {
			return "expired";
		}
		const isCurrent = (): boolean => tokens.current(sha256) !== undefined;
		return { principal: name, limits: record, audience: [grant.audience], token: record, isCurrent };
	};

	const codeOf = (secret: string): Code | undefined => CODE.safeParse(store.get(keyOf(secret))?.value).data;

	/** Marks a code as used for a sign-in. Returns the code as it was before. */
	const useCode = async (secret: string, signIn: string): Promise<Code | undefined> => {
		let code: Code | undefined;
		await store.update(keyOf(secret), () => {
			code = codeOf(secret);
			return code !== undefined && code.used === undefined ? { ...code, used: signIn } : undefined;
		});
		return code;
	};

	const end = (id: string): Promise<void> => tokens.changeSignIn(id, () => undefined);

	/** Stores a new sign-in. Returns its tokens. */
	const begin = async (id: string, { client, audience, limits }: Approval): Promise<TokenAnswer> => {
		const { answer, expires, ...hashes } = issue(id, limits, randomBytes(32).toString("base64url"));
		const grant = { client: client.id, clientName: client.name, audience, ...hashes };
		await tokens.addSignIn({ name: recordName(client.name), ...limits, grant, expires, sha256: digest(id) });
		return answer;
	};

	/** Makes the answer of the token endpoint, derived from `seed`, such as a refresh token; and what is stored of it. */
	const issue = (id: string, limits: Limits, seed: string) => {
		const { now } = tokens;
		const answer: TokenAnswer = {
			access_token: `${TOKEN_PREFIX}${id}.${key.derive("oauth access", id, seed)}`,
			token_type: "Bearer",
			expires_in: ACCESS_LIFETIME / 1_000,
			refresh_token: `${TOKEN_PREFIX}${id}.${key.derive("oauth refresh", id, seed)}`,
			scope: scopesOf(limits),
		};
		return {
			answer,
			access: digest(answer.access_token),
			refresh: digest(answer.refresh_token),
			accessExpires: new Date(now + ACCESS_LIFETIME).toISOString(),
			expires: new Date(now + GRANT_LIFETIME).toISOString(),
		};
	};
	return { approve, exchange, refresh, revoke, verify };
}

function keyOf(code: string): string {
	return `code/${digest(code)}`;
}

/** Why a code was not issued for an exchange, or is not valid any more; undefined if it was, and is. */
function problemOf({ approval, used, expires }: Code, given: CodeExchange, now: number): string | undefined {
	const { client, redirectUri, challenge, audience } = approval;
	const hash = createHash("sha256").update(given.verifier).digest("base64url");
	const problems: readonly (readonly [isProblem: boolean, text: string])[] = [
		[used !== undefined, USED],
		[expires <= now, `code expired ${Math.round((now - expires) / 1_000)} s ago`],
		[client.id !== given.clientId, `code of another client: ${client.name}`],
		[(given.redirectUri ?? redirectUri) !== redirectUri, "code issued for another redirect_uri"],
		[(given.audience ?? audience) !== audience, `code issued for another resource: ${audience}`],
		[hash !== challenge, "code_verifier does not match code_challenge"],
	];
	return problems.find(([isProblem]) => isProblem)?.[1];
}

/** Characters of a client's id in the log: one that is a URL may be long. */
const MAX_CLIENT = 200;

/** A code or refresh token gives no tokens. Only the log says why: the answer is the same for each reason. */
function unusable(clientId: string, why: string): GatewayError {
	const log = { client: clientId.slice(0, MAX_CLIENT), why };
	return new GatewayError("invalid_grant", "unknown, used or expired, or issued for another request", { log });
}

/** No name that an operator chooses has a colon. */
function recordName(clientName: string): string {
	const word = clientName
		.replace(/[^A-Za-z0-9]+/g, "-")
		.replace(/^-|-$/g, "")
		.toLowerCase()
		.slice(0, 32);
	return `client:${word || "unnamed"}-${randomBytes(3).toString("hex")}`;
}

/** The id of the sign-in of an access or refresh token. It tells one that was used before from one that never existed. */
function idIn(token: string): string {
	return token.slice(TOKEN_PREFIX.length).split(".")[0] as string;
}
