import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { ClientCapabilities, InitializeRequestParams } from "@modelcontextprotocol/server";
import * as z from "zod";
import type { Access } from "../config/access.js";

/** Characters of a client's name and version that are kept. */
const MAX_NAME = 100;

/** Characters of a client's capabilities, as JSON, that are kept: an id is a header of each request. */
const MAX_CAPABILITIES = 1_000;

/** Characters of an id. */
const MAX_ID = 4_096;

/** The client's description of itself, from the start of its session. */
const claimsSchema = z.object({
	/** When, in milliseconds since 1970. */
	since: z.number(),
	revision: z.string(),
	name: z.string(),
	version: z.string(),
	capabilities: z.record(z.string(), z.unknown()),
});

export type SessionClaims = z.infer<typeof claimsSchema>;

/** The capabilities that fit, in the client's order. */
function fittingCapabilities(capabilities: ClientCapabilities): Record<string, unknown> {
	const fitting: Record<string, unknown> = {};
	let room = MAX_CAPABILITIES;
	for (const [name, value] of Object.entries(capabilities)) {
		const length = JSON.stringify({ [name]: value }).length;
		if (length <= room) {
			fitting[name] = value;
			room -= length;
		}
	}
	return fitting;
}

/** Owner of a session: a token, whatever its rights, on one path. */
interface SessionOwner {
	readonly access: Pick<Access, "principal" | "holder">;
	/** The server of /mcp/SERVER. */
	readonly server: string | undefined;
}

/**
 * Ids of sessions: they hold the claims and are signed for their owner, so that a gateway which does not know a session,
 * because it was restarted or the session was idle, restores it. Ids hold no rights: each request brings its token.
 */
export type SessionIds = ReturnType<typeof makeSessionIds>;

/**
 * Makes and reads ids of sessions.
 *
 * @param key gateways with the same one accept each other's ids. Default: a random one
 */
export function makeSessionIds(key: string = randomBytes(32).toString("base64url")) {
	const sign = (text: string, { access: { principal, holder }, server }: SessionOwner): string => {
		const signed = JSON.stringify([text, principal, holder ?? null, server ?? null]);
		return createHmac("sha256", key).update(signed).digest("base64url");
	};
	return {
		/** Makes the id of a session that begins. */
		make(owner: SessionOwner, { protocolVersion, clientInfo, capabilities }: InitializeRequestParams) {
			const claims: SessionClaims = {
				since: Date.now(),
				revision: protocolVersion,
				name: clientInfo.name.slice(0, MAX_NAME),
				version: clientInfo.version.slice(0, MAX_NAME),
				capabilities: fittingCapabilities(capabilities),
			};
			const nonce = randomBytes(12).toString("base64url");
			const text = `${nonce}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
			return { id: `${text}.${sign(text, owner)}`, claims };
		},
		/** The client's claims; undefined if no gateway with this key has made the id for this owner. */
		read(id: string, owner: SessionOwner): SessionClaims | undefined {
			const end = id.lastIndexOf(".");
			if (id.length > MAX_ID || end < 0) {
				return undefined;
			}
			const text = id.slice(0, end);
			// As text: the last character has bits that decoding drops, so that several would be the same signature.
			const [expected, given] = [Buffer.from(sign(text, owner)), Buffer.from(id.slice(end + 1))];
			if (expected.length !== given.length || !timingSafeEqual(expected, given)) {
				return undefined;
			}
			return claimsSchema.safeParse(JSON.parse(Buffer.from(text.split(".")[1] ?? "", "base64url").toString())).data;
		},
	};
}
