import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { replaceFile } from "./atomic-file.js";
import type { TokenRecord } from "./token-file.js";

/** Milliseconds between writes of the file: a token is used with every request. */
const SAVE_INTERVAL = 60_000;

const usesFile = z.object({ version: z.literal(1), uses: z.record(z.string(), z.number()) });

type Named = Pick<TokenRecord, "sha256">;

/** When tokens of clients were last used, in a file of its own: that of the tokens changes only when an operator changes it. */
export class TokenUses {
	readonly #path: string;
	/** Milliseconds since 1970, by the token's hash. */
	readonly #uses: Map<string, number>;
	#isChanged = false;
	#saved = Date.now();

	/** @param folder the gateway's state folder; a file that is missing or damaged knows nothing */
	constructor(folder: string) {
		this.#path = join(folder, "tokens-used.json");
		this.#uses = new Map(Object.entries(read(this.#path)));
	}

	/** A request was made with the token. */
	used({ sha256 }: Named): void {
		this.#uses.set(sha256, Date.now());
		this.#isChanged = true;
	}

	/** When the token was last used, in milliseconds since 1970; undefined: never. In other processes, up to a minute late. */
	lastUse({ sha256 }: Named): number | undefined {
		return this.#uses.get(sha256);
	}

	/** Writes the file if it is older than a minute. Never rejects: the next write may succeed. */
	async saveIfDue(tokens: readonly Named[]): Promise<void> {
		if (Date.now() - this.#saved >= SAVE_INTERVAL) {
			await this.save(tokens);
		}
	}

	/** Writes what has changed, of tokens that still exist. Never rejects. */
	async save(tokens: readonly Named[]): Promise<void> {
		if (!this.#isChanged) {
			return;
		}
		this.#isChanged = false;
		this.#saved = Date.now();
		const known = new Set(tokens.map(({ sha256 }) => sha256));
		const uses = Object.fromEntries([...this.#uses].filter(([sha256]) => known.has(sha256)));
		await replaceFile(this.#path, `${JSON.stringify({ version: 1, uses })}\n`).catch(() => {
			this.#isChanged = true;
		});
	}
}

function read(path: string): Readonly<Record<string, number>> {
	try {
		return usesFile.parse(JSON.parse(readFileSync(path, "utf8"))).uses;
	} catch {
		return {};
	}
}
