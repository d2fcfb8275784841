import { createHash } from "node:crypto";
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { JSONRPCRequest } from "@modelcontextprotocol/server";
import * as z from "zod";
import { replaceFile } from "../config/atomic-file.js";
import type { SessionTransport } from "./session-transport.js";

/** Sessions whose subscriptions are kept. Beyond that, the ones that were changed longest ago are forgotten. */
const MAX_SESSIONS = 1_000;

/** Characters of a session's subscriptions that are kept. Those beyond end with the process. */
const MAX_CHARACTERS = 65_536;

const kept = z.object({ subscriptions: z.array(z.string()), logLevel: z.string().optional() });

/** Requests of a client that it would not repeat in a restored session. */
type KeptSession = z.infer<typeof kept>;

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

	/** The id itself would be too long for a name, and is a secret. */
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

/** Subscriptions and log level of a session. They are kept, and made again after a restart. */
export class SessionAsks {
	readonly #transport: SessionTransport;
	readonly #kept: KeptSessions;
	readonly #subscriptions = new Set<string>();
	/** Subscriptions of an earlier process that have not succeeded yet: their server may still be connecting. */
	readonly #missing = new Set<string>();
	#logLevel: string | undefined;

	constructor(transport: SessionTransport, kept: KeptSessions) {
		this.#transport = transport;
		this.#kept = kept;
	}

	/** The client's request has succeeded. Settles when what it asked for is kept. */
	async answered({ method, params = {} }: JSONRPCRequest): Promise<void> {
		if (method === "resources/subscribe") {
			this.#subscriptions.add(`${params.uri}`);
		} else if (method === "resources/unsubscribe") {
			this.#subscriptions.delete(`${params.uri}`);
			this.#missing.delete(`${params.uri}`);
		} else if (method === "logging/setLevel") {
			this.#logLevel = `${params.level}`;
		} else {
			return;
		}
		const { sessionId } = this.#transport;
		if (sessionId !== undefined) {
			const logLevel = this.#logLevel;
			await this.#kept.write(sessionId, { subscriptions: [...this.#subscriptions], ...(logLevel && { logLevel }) });
		}
	}

	/** Asks again for what an earlier process has kept. */
	async restore(id: string): Promise<void> {
		const { subscriptions = [], logLevel }: Partial<KeptSession> = (await this.#kept.read(id)) ?? {};
		if (logLevel !== undefined) {
			this.#logLevel = logLevel;
			await this.#transport.ask("logging/setLevel", { level: logLevel }).catch(() => {});
		}
		for (const uri of subscriptions) {
			this.#subscriptions.add(uri);
			this.#missing.add(uri);
		}
		this.repeat();
	}

	/** Subscribes to what could not be subscribed to before. */
	repeat(): void {
		for (const uri of [...this.#missing]) {
			this.#missing.delete(uri);
			// Tried again with the next change of the lists, unless the client has unsubscribed.
			this.#transport
				.ask("resources/subscribe", { uri })
				.catch(() => this.#subscriptions.has(uri) && this.#missing.add(uri));
		}
	}
}
