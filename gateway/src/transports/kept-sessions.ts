import { createHash } from "node:crypto";
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { replaceFile } from "../config/atomic-file.js";

/** Sessions whose subscriptions are kept. Beyond that, the ones that were changed longest ago are forgotten. */
const MAX_SESSIONS = 1_000;

/** Characters of a session's subscriptions that are kept. Those beyond end with the process. */
const MAX_CHARACTERS = 65_536;

const kept = z.object({ subscriptions: z.array(z.string()), logLevel: z.string().optional() });

/** Requests of a client that it would not repeat in a restored session. */
export type KeptSession = z.infer<typeof kept>;

/** Subscriptions and log levels of sessions, in the state folder: a file each. */
export class KeptSessions {
	readonly #folder: string | undefined;
	readonly #onError: (error: Error) => void;

	/** @param folder undefined: nothing is kept */
	constructor(folder: string | undefined, onError: (error: Error) => void) {
		this.#folder = folder;
		this.#onError = onError;
	}

	/** Undefined if nothing is kept of the session, or its file cannot be read. Never rejects. */
	async read(id: string): Promise<KeptSession | undefined> {
		const path = this.#pathOf(id);
		try {
			return path === undefined ? undefined : kept.parse(JSON.parse(await readFile(path, "utf8")));
		} catch (error) {
			this.#report(error);
			return undefined;
		}
	}

	/** Never rejects: a session goes on without it. */
	async write(id: string, { subscriptions, ...rest }: KeptSession): Promise<void> {
		const path = this.#pathOf(id);
		if (path === undefined) {
			return;
		}
		let room = MAX_CHARACTERS;
		const fitting = subscriptions.filter((uri) => {
			room -= uri.length;
			return room >= 0;
		});
		try {
			await replaceFile(path, JSON.stringify({ subscriptions: fitting, ...rest }));
			await this.#makeRoom();
		} catch (error) {
			this.#report(error);
		}
	}

	/** Never rejects. */
	async remove(id: string): Promise<void> {
		const path = this.#pathOf(id);
		if (path !== undefined) {
			await rm(path, { force: true }).catch((error: unknown) => this.#report(error));
		}
	}

	async #makeRoom(): Promise<void> {
		const folder = this.#folder as string;
		const names = (await readdir(folder)).filter((name) => name.endsWith(".json"));
		if (names.length <= MAX_SESSIONS) {
			return;
		}
		const files = names.map(async (name) => ({ name, time: (await stat(join(folder, name))).mtimeMs }));
		const oldest = (await Promise.all(files)).sort((one, other) => one.time - other.time);
		await Promise.all(oldest.slice(0, -MAX_SESSIONS).map(({ name }) => rm(join(folder, name), { force: true })));
	}

	/** The id itself would be too long for a name, and lets in whoever reads it. */
	#pathOf(id: string): string | undefined {
		const name = createHash("sha256").update(id).digest("hex");
		return this.#folder && join(this.#folder, `${name}.json`);
	}

	#report(error: unknown): void {
		if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
			this.#onError(new Error(`sessions in the state folder: ${(error as Error).message}`));
		}
	}
}
