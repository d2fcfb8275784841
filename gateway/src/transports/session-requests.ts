import type { ServerResponse } from "node:http";
import { isObject } from "../firmware.js";

/** The one revision of Streamable HTTP that has JSON-RPC batches: 2025-06-18 removed them. */
const REVISION_WITH_BATCHES = "2025-03-26";

/** The unanswered requests of a session. Their ids must differ: a response names only the id. */
export class SessionRequests {
	readonly #ids = new Set<unknown>();

	/**
	 * Records the ids of a posted body, until its response closes.
	 *
	 * @param revision the one that the session has negotiated; undefined before
	 * @returns what is wrong with it; it must not be served then
	 */
	begin(body: unknown, response: ServerResponse, revision: string | undefined): string | undefined {
		if (Array.isArray(body) && revision !== REVISION_WITH_BATCHES) {
			return `${revision} has no JSON-RPC batches: send one message per request`;
		}
		const ids = idsOf(body);
		const used = ids.find((id, index) => this.#ids.has(id) || ids.indexOf(id) !== index);
		if (used !== undefined) {
			return `the id ${JSON.stringify(used)} is already in use`;
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
