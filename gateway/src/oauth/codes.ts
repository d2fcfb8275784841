import * as z from "zod";
import { LIMITS } from "../config/token-file.js";

/** Milliseconds for which a code is valid. */
export const CODE_LIFETIME = 60_000;

/** Milliseconds for which a code is remembered, so that its second use is noticed. */
export const CODE_MEMORY = 600_000;

/** Most codes that are remembered. The operator has approved each. */
const MAX_CODES = 1_000;

/** The operator's approval. */
const approval = z.object({
	client: z.object({ id: z.string(), name: z.string(), redirectUris: z.array(z.string()).readonly() }),
	redirectUri: z.string(),
	/** PKCE: the SHA-256 of the verifier, base64url (RFC 7636 section 4.2). */
	challenge: z.string(),
	/** The resource, as ProtectedResource.identify spells it. */
	audience: z.string(),
	limits: z.object(LIMITS),
});

/** An approval that a client can exchange for tokens, once. */
export const codeSchema = z.object({
	approval,
	/** In milliseconds since 1970. */
	expires: z.number(),
	/** The id of the grant that it was exchanged for; undefined if it was not used. */
	used: z.string().optional(),
});

export type Approval = Readonly<z.infer<typeof approval>>;
export type Code = Readonly<z.infer<typeof codeSchema>>;

/** Keeps codes by their hash. Both methods reject with TokenError if they cannot be kept now. */
export interface CodeStore {
	/** Resolves with whether it was added: not if it is known already. */
	add(hash: string, code: Code): Promise<boolean>;
	/** Marks a code as used for a grant. Resolves with the code as it was before; undefined if it is unknown. */
	take(hash: string, grant: string): Promise<Code | undefined>;
}

/** Codes in memory: of a gateway that is alone. */
export class MemoryCodes implements CodeStore {
	/** The oldest first. */
	readonly #codes = new Map<string, Code>();

	async add(hash: string, code: Code): Promise<boolean> {
		if (this.#codes.has(hash)) {
			return false;
		}
		for (const [old, { expires }] of this.#codes) {
			if (expires + CODE_MEMORY < Date.now() || this.#codes.size >= MAX_CODES) {
				this.#codes.delete(old);
			}
		}
		this.#codes.set(hash, code);
		return true;
	}

	async take(hash: string, grant: string): Promise<Code | undefined> {
		const code = this.#codes.get(hash);
		if (code !== undefined && code.used === undefined) {
			this.#codes.set(hash, { ...code, used: grant });
		}
		return code;
	}
}
