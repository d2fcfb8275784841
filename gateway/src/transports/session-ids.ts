import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { ClientCapabilities, InitializeRequestParams } from "@modelcontextprotocol/server";
import * as z from "zod";

/** Characters of a client's name and version that are kept. */
const MAX_NAME = 100;

/** Characters of a client's capabilities, as JSON, that are kept: an id is a header of each request. */
const MAX_CAPABILITIES = 1_000;

/** Characters of an id. */
const MAX_ID = 4_096;

/** Owner of a session. It stays the same with the token, whatever the token's rights. */
export interface SessionOwner {
	readonly principal: string;
	/** Which token: a name may be given again. Undefined without a token. */
	readonly holder?: string | undefined;
	/** The path: the server of /mcp/SERVER. */
	readonly server?: string | undefined;
}

/** The client's description of itself, from the start of its session. */
const claims = z.object({
	/** When, in milliseconds since 1970. */
	since: z.number(),
	revision: z.string(),
	name: z.string(),
	version: z.string(),
	capabilities: z.record(z.string(), z.unknown()),
});

export type SessionClaims = z.infer<typeof claims>;

/**
 * Ids of sessions: they say how the session began and are signed for their owner, so that a gateway which does not know a session,
 * because it was restarted or the session was idle, goes on with it. Who may do what is in no id: each request brings its token.
 */
export class SessionIds {
	readonly #key: string;

	/** @param key gateways with the same one accept each other's ids. Default: a random one */
	constructor(key: string = randomBytes(32).toString("base64url")) {
		this.#key = key;
	}

	/** The id of a session that begins. */
	make(owner: SessionOwner, params: InitializeRequestParams, since = Date.now()): string {
		const { protocolVersion: revision, clientInfo, capabilities } = params;
		const [name, version] = [clientInfo.name.slice(0, MAX_NAME), clientInfo.version.slice(0, MAX_NAME)];
		const said: SessionClaims = { since, revision, name, version, capabilities: shortened(capabilities) };
		const nonce = randomBytes(12).toString("base64url");
		const text = `${nonce}.${Buffer.from(JSON.stringify(said)).toString("base64url")}`;
		return `${text}.${this.#sign(text, owner)}`;
	}

	/** The client's claims; undefined if no gateway with this key has made the id for this owner. */
	read(id: string, owner: SessionOwner): SessionClaims | undefined {
		const end = id.lastIndexOf(".");
		if (id.length > MAX_ID || end < 0) {
			return undefined;
		}
		const text = id.slice(0, end);
		// As text: the last character has bits that decoding drops, so that several would be the same signature.
		const [expected, given] = [Buffer.from(this.#sign(text, owner)), Buffer.from(id.slice(end + 1))];
		if (expected.length !== given.length || !timingSafeEqual(expected, given)) {
			return undefined;
		}
		return claims.safeParse(JSON.parse(Buffer.from(text.split(".")[1] ?? "", "base64url").toString())).data;
	}

	#sign(text: string, { principal, holder, server }: SessionOwner): string {
		const signed = JSON.stringify([text, principal, holder ?? null, server ?? null]);
		return createHmac("sha256", this.#key).update(signed).digest("base64url");
	}
}

/** The capabilities that fit, in the client's order. */
function shortened(capabilities: ClientCapabilities): Record<string, unknown> {
	const kept: Record<string, unknown> = {};
	let room = MAX_CAPABILITIES;
	for (const [name, value] of Object.entries(capabilities)) {
		const length = JSON.stringify({ [name]: value }).length;
		if (length <= room) {
			kept[name] = value;
			room -= length;
		}
	}
	return kept;
}
