import type { ServerResponse } from "node:http";
import { victimFor } from "./fair-share.js";
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
	const open = new Map<ServerResponse, { holder: readonly string[]; isIdle: false; response: ServerResponse }>();
	const tooMany = (limit: number): HttpError =>
		new HttpError(503, "busy", `too many ${kind} are open (limit ${limit})`);
	return (owner, response) => {
		const all = [...open.values()];
		if (all.filter(({ holder }) => holder[0] === owner).length >= MAX_STREAMS_PER_OWNER) {
			throw tooMany(MAX_STREAMS_PER_OWNER);
		}
		if (all.length >= MAX_STREAMS) {
			const victim = victimFor(all, [owner], MAX_STREAMS);
			if (victim === undefined) {
				throw tooMany(MAX_STREAMS);
			}
			open.delete(victim.response);
			victim.response.destroy();
		}
		open.set(response, { holder: [owner], isIdle: false, response });
		response.once("close", () => open.delete(response));
	};
}
