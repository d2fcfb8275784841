import type { TokenKind, TokenRecord } from "./token-file.js";

/**
 * Records of tokens by what identifies them, so that a check costs the same among any number of them. Secrets are looked up by
 * their SHA-256: the duration may reveal part of a stored hash, but a secret cannot be chosen by its hash.
 */
export class TokenIndex {
	/** Every record, in the order in which they were made. */
	readonly records: readonly TokenRecord[];
	readonly kinds: ReadonlySet<TokenKind>;
	/** By the hash of the token. */
	readonly byHash: ReadonlyMap<string, TokenRecord>;
	/** By the hash of the access token of a client that has signed in. */
	readonly byAccess: ReadonlyMap<string, TokenRecord>;
	/** If several gateways of a cluster have chosen a name at the same moment, the first record with it. */
	readonly byName: ReadonlyMap<string, TokenRecord>;

	constructor(records: readonly TokenRecord[]) {
		const newestFirst = [...records].reverse();
		this.records = records;
		this.kinds = new Set(records.map(({ kind }) => kind));
		this.byHash = new Map(newestFirst.map((record) => [record.sha256, record]));
		this.byAccess = new Map(newestFirst.flatMap((record) => (record.grant ? [[record.grant.access, record]] : [])));
		this.byName = new Map(newestFirst.map((record) => [record.name, record]));
	}
}
