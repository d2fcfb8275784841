import type { ServerResponse } from "node:http";
import { isObject } from "../firmware.js";

/** The one revision of Streamable HTTP that has JSON-RPC batches: 2025-06-18 removed them. */
const REVISION_WITH_BATCHES = "2025-03-26";

/** The requests of a session that are not answered. Their ids must differ: an answer names nothing but the id. */
export class SessionRequests {
	readonly #ids = new Set<unknown>();

	/**
	 * Takes note of what a client posted, until its response closes.
	 *
	 * @param revision the one that the session has negotiated; undefined before
	 * @returns what is wrong with it; it must not be served then
	 */
	begin(body: unknown, response: ServerResponse, revision: string | undefined): string | undefined {
		if (Array.isArray(body) && revision !== REVISION_WITH_BATCHES) {
			return `${revision} has no JSON-RPC batches: send each message by itself`;
		}
		const ids = idsOf(body);
		const used = ids.find((id, index) => this.#ids.has(id) || ids.indexOf(id) !== index);
		if (used !== undefined) {
			return `the id ${JSON.stringify(used)} is in use: a request with it is not answered yet`;
		}
		for (const id of ids) {
			this.#ids.add(id);
		}
		response.once("close", () => {
			for (const id of ids) {
				this.#ids.delete(id);
			}
		});
		return undefined;
	}
}

/** The ids of the requests in a body. */
function idsOf(body: unknown): unknown[] {
	const messages: unknown[] = Array.isArray(body) ? body : [body];
	return messages.flatMap((message) =>
		isObject(message) && message.method !== undefined && message.id !== undefined ? [message.id] : [],
	);
}
