import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { jsonIn } from "../../core/received.js";
import { replaceFile } from "../../core/replace-file.js";

/** Stored result of a sign-in at a server. The members of OAuth are those of the SDK, which checks the issuers that it stores in them. */
const RECORD = z.object({
	url: z.string(),
	client: z.looseObject({ client_id: z.string() }),
	tokens: z.looseObject({ access_token: z.string(), token_type: z.string(), scope: z.string().optional() }),
	/** Scopes that a call lacked, separated by spaces: the next sign-in asks for them, too. */
	missingScope: z.string().optional(),
});
export type SignInRecord = z.output<typeof RECORD>;

/** Where sign-ins are kept, and how a person signs in. */
export interface SignInsOptions {
	/** Its files are readable by their owner only. */
	readonly folder: string;
	/** The command to sign in, for errors; the server's id is appended. */
	readonly how: string;
}

/** The sign-ins at upstream servers: a file for each server, readable by its owner only. */
export class SignIns {
	readonly #folder: string;

	constructor(folder: string) {
		this.#folder = folder;
	}

	/**
	 * The sign-in at a server; undefined if there was none at this URL: a token is not sent to another one.
	 *
	 * Rejects with Error if the file cannot be read.
	 */
	async read(id: string, url: string): Promise<SignInRecord | undefined> {
		const path = this.#pathOf(id);
		const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
			if (error.code !== "ENOENT") {
				throw error;
			}
		});
		if (text === undefined) {
			return undefined;
		}
		const record = RECORD.safeParse(jsonIn(text));
		if (!record.success) {
			throw new Error(`${path}: not a sign-in: sign in again`);
		}
		return record.data.url === url ? record.data : undefined;
	}

	async write(id: string, record: SignInRecord): Promise<void> {
		await mkdir(this.#folder, { recursive: true, mode: 0o700 });
		await replaceFile(this.#pathOf(id), `${JSON.stringify(record, undefined, "\t")}\n`);
	}

	async remove(id: string): Promise<void> {
		await rm(this.#pathOf(id), { force: true });
	}

	/** Ids of servers have no characters that mean something in a path. */
	#pathOf(id: string): string {
		return join(this.#folder, `${id}.json`);
	}
}
