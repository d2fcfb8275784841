import type { ServerResponse } from "node:http";
import { HttpError } from "./http-error.js";

/** Most open streams of one kind: of one token, or of one address without a token; and in all. */
const MAX_STREAMS_PER_OWNER = 20;
const MAX_STREAMS = 500;

/** The open streams of one kind. At the limit of all, one of the owner with the most makes room for an owner with fewer. */
export class StreamLimit {
	readonly #kind: string;
	/** The oldest first. */
	readonly #open = new Map<string, Set<ServerResponse>>();

	/** @param kind in the plural, for the error */
	constructor(kind: string) {
		this.#kind = kind;
	}

	/**
	 * Counts a stream until its response is closed.
	 *
	 * @param owner the `owner` of its admission
	 * @throws HttpError (503) if the owner has too many
	 */
	add(owner: string, response: ServerResponse): void {
		const own = this.#open.get(owner) ?? new Set();
		if (own.size >= MAX_STREAMS_PER_OWNER) {
			throw this.#tooMany(MAX_STREAMS_PER_OWNER);
		}
		this.#makeRoom(own.size);
		this.#open.set(owner, own.add(response));
		response.once("close", () => this.#remove(owner, response));
	}

	/** @param count open streams of the owner who opens another */
	#makeRoom(count: number): void {
		const all = [...this.#open].sort(([, a], [, b]) => b.size - a.size);
		if (all.reduce((sum, [, { size }]) => sum + size, 0) < MAX_STREAMS) {
			return;
		}
		const [owner, responses] = all[0] as [string, Set<ServerResponse>];
		const [oldest] = responses;
		if (oldest === undefined || responses.size <= count + 1) {
			throw this.#tooMany(MAX_STREAMS);
		}
		this.#remove(owner, oldest);
		oldest.destroy();
	}

	#remove(owner: string, response: ServerResponse): void {
		const own = this.#open.get(owner);
		own?.delete(response);
		if (own?.size === 0) {
			this.#open.delete(owner);
		}
	}

	#tooMany(limit: number): HttpError {
		return new HttpError(503, "busy", `too many ${this.#kind} are open (limit ${limit})`);
	}
}
