import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { replaceFile } from "./atomic-file.js";
import { SaveState } from "./save-state.js";
import type { TokenRecord } from "./token-file.js";

/** Milliseconds between writes of the file: a token is used with every request. */
const SAVE_INTERVAL = 60_000;

const usesFile = z.object({ version: z.literal(1), uses: z.record(z.string(), z.number()) });

/** Tells other gateways when a token was used last. Rejects if it cannot. */
type ShareUse = (sha256: string, time: number) => Promise<void>;

type Named = Pick<TokenRecord, "sha256">;

/** When tokens of clients were last used, in a file of its own: that of the tokens changes only when an operator changes it. */
export class TokenUses {
	readonly #path: string;
	readonly #saves: SaveState;
	/** Milliseconds since 1970, by the token's hash. */
	readonly #uses: Map<string, number>;
	/** The hashes of tokens whose last use was here, until others know it. */
	readonly #unshared = new Set<string>();
	/** Undefined: this gateway is alone. */
	#share: ShareUse | undefined;
	#isChanged = false;
	#saved = Date.now();

	/**
	 * @param folder the gateway's state folder; a file that is missing or damaged knows nothing
	 * @param saves is told of each write
	 */
	constructor(folder: string, saves = new SaveState()) {
		this.#saves = saves;
		this.#path = join(folder, "tokens-used.json");
		this.#uses = new Map(Object.entries(read(this.#path)));
	}

	/** A request was made with the token. */
	used({ sha256 }: Named): void {
		this.#uses.set(sha256, Date.now());
		this.#unshared.add(sha256);
		this.#isChanged = true;
	}

	/** Has other gateways know what is used here, whenever it is saved. */
	share(share: ShareUse): void {
		this.#share = share;
	}

	/** A request was made with the token at another gateway. */
	learn(sha256: string, time: number): void {
		const known = this.#uses.get(sha256) ?? 0;
		if (time > known) {
			this.#uses.set(sha256, time);
			this.#isChanged = true;
		}
		if (time >= known) {
			this.#unshared.delete(sha256);
		}
	}

	/**
	 * When the token was last used, in milliseconds since 1970; undefined: never. At other gateways and in other processes, each
	 * up to a minute late.
	 */
	lastUse({ sha256 }: Named): number | undefined {
		return this.#uses.get(sha256);
	}

	/** Writes the file if it is older than a minute. Never rejects: the next write may succeed. */
	async saveIfDue(tokens: readonly Named[]): Promise<void> {
		if (Date.now() - this.#saved >= SAVE_INTERVAL) {
			await this.save(tokens);
		}
	}

	/** Writes and shares what has changed, of tokens that still exist. Never rejects. */
	async save(tokens: readonly Named[]): Promise<void> {
		if (!this.#isChanged) {
			return;
		}
		this.#isChanged = false;
		this.#saved = Date.now();
		const known = new Set(tokens.map(({ sha256 }) => sha256));
		const uses = Object.fromEntries([...this.#uses].filter(([sha256]) => known.has(sha256)));
		await this.#saves.watch(replaceFile(this.#path, `${JSON.stringify({ version: 1, uses })}\n`)).catch(() => {
			this.#isChanged = true;
		});
		await this.#shareUses(known);
	}

	async #shareUses(known: ReadonlySet<string>): Promise<void> {
		const share = this.#share;
		const unshared = [...this.#unshared].filter((sha256) => known.has(sha256));
		this.#unshared.clear();
		const publish = async (sha256: string): Promise<void> => {
			try {
				await share?.(sha256, this.#uses.get(sha256) as number);
			} catch {
				this.#unshared.add(sha256);
				this.#isChanged = true;
			}
		};
		await Promise.all(unshared.map(publish));
	}
}

function read(path: string): Readonly<Record<string, number>> {
	try {
		return usesFile.parse(JSON.parse(readFileSync(path, "utf8"))).uses;
	} catch {
		return {};
	}
}
