import type { Store } from "xs-mcp-manager/core";
import * as z from "zod";
import { digest } from "../config/digest.js";
import { LIMITS } from "../config/token-record.js";

/** Milliseconds for which a code is valid. */
const CODE_LIFETIME = 60_000;

/** Milliseconds for which a code is remembered after that, so that its second use is noticed. */
const CODE_MEMORY = 600_000;

/** The operator's approval. */
const APPROVAL = z.object({
	client: z.object({ id: z.string(), name: z.string(), redirectUris: z.array(z.string()).readonly() }),
	redirectUri: z.string(),
	/** PKCE: the SHA-256 of the verifier, base64url (RFC 7636 section 4.2). */
	challenge: z.string(),
	/** The resource, as ProtectedResource.identify spells it. */
	audience: z.string(),
	limits: z.object(LIMITS),
});

/** An approval that a client can exchange for tokens, once. */
const CODE = z.object({
	approval: APPROVAL,
	/** In milliseconds since 1970. */
	expires: z.number(),
	/** The id of the sign-in that it was exchanged for; undefined if it was not used. */
	used: z.string().optional(),
});

export type Approval = Readonly<z.infer<typeof APPROVAL>>;
export type Code = Readonly<z.infer<typeof CODE>>;

/** Codes in the store of what does not last, by their hash. All methods reject with StoreError. */
export class Codes {
	readonly #store: Store;

	constructor(store: Store) {
		this.#store = store;
	}

	/** Adds a code, for an approval that has none yet. Returns whether it is new. Removes old ones. */
	async add(secret: string, approval: Approval): Promise<boolean> {
		for (const { key, value, revision } of this.#store.list("code/")) {
			const expires = CODE.safeParse(value).data?.expires ?? 0;
			if (expires + CODE_MEMORY < this.#store.now) {
				await this.#store.delete(key, revision);
			}
		}
		let isNew = false;
		await this.#store.update(keyOf(secret), (entry) => {
			isNew = entry === undefined;
			const code: Code = { approval, expires: this.#store.now + CODE_LIFETIME };
			return isNew ? code : undefined;
		});
		return isNew;
	}

	/** The code; undefined if it is unknown. Another gateway may have added it just before. */
	async find(secret: string): Promise<Code | undefined> {
		if (this.#store.get(keyOf(secret)) === undefined) {
			await this.#store.sync();
		}
		return this.#get(secret);
	}

	/** Marks a code as used for a sign-in. Returns the code as it was before. */
	async use(secret: string, signIn: string): Promise<Code | undefined> {
		let code: Code | undefined;
		await this.#store.update(keyOf(secret), () => {
			code = this.#get(secret);
			return code !== undefined && code.used === undefined ? { ...code, used: signIn } : undefined;
		});
		return code;
	}

	#get(secret: string): Code | undefined {
		return CODE.safeParse(this.#store.get(keyOf(secret))?.value).data;
	}
}

function keyOf(secret: string): string {
	return `code/${digest(secret)}`;
}
