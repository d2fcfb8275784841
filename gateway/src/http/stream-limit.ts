import type { ServerResponse } from "node:http";
import { HttpError } from "./http-error.js";

/** Most open streams of one kind: of one token, or of one address without a token; and in all. */
const MAX_STREAMS_PER_OWNER = 20;
const MAX_STREAMS = 500;

/**
 * Limits the open streams of one kind. At the limit of all, one of the owner with the most makes room for an owner with fewer.
 *
 * @param kind in the plural, for the error
 * @returns a function that counts a stream until its response is closed. It gets the `owner` of its admission, and throws HttpError
 * (503) if the owner has too many
 */
export function streamLimit(kind: string): (owner: string, response: ServerResponse) => void {
	/** The oldest first. */
	const open = new Map<string, Set<ServerResponse>>();
	const tooMany = (limit: number): HttpError =>
		new HttpError(503, "busy", `too many ${kind} are open (limit ${limit})`);
	const remove = (owner: string, response: ServerResponse): void => {
		const own = open.get(owner);
		own?.delete(response);
		if (own?.size === 0) {
			open.delete(owner);
		}
	};
	/** @param count open streams of the owner who opens another */
	const makeRoom = (count: number): void => {
		const all = [...open].sort(([, a], [, b]) => b.size - a.size);
		if (all.reduce((sum, [, { size }]) => sum + size, 0) < MAX_STREAMS) {
			return;
		}
		const [owner, responses] = all[0] as [string, Set<ServerResponse>];
		const [oldest] = responses;
		if (oldest === undefined || responses.size <= count + 1) {
			throw tooMany(MAX_STREAMS);
		}
		remove(owner, oldest);
		oldest.destroy();
	};
	return (owner, response) => {
		const own = open.get(owner) ?? new Set();
		if (own.size >= MAX_STREAMS_PER_OWNER) {
			throw tooMany(MAX_STREAMS_PER_OWNER);
		}
		makeRoom(own.size);
		open.set(owner, own.add(response));
		response.once("close", () => remove(owner, response));
	};
}
