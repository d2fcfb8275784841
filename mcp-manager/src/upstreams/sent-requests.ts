import {
	isJSONRPCErrorResponse,
	isJSONRPCNotification,
	isJSONRPCRequest,
	type JSONRPCMessage,
	type RequestId,
} from "@modelcontextprotocol/client";

/** The requests of a connection that await an answer. */
export class SentRequests {
	readonly #unanswered = new Set<RequestId>();
	#initializeId: RequestId | undefined;
	/** Whether the server has answered `initialize` with an error. */
	rejectsInitialize = false;

	/** Notes a message to the server: a request awaits an answer until it is cancelled. */
	sent(message: JSONRPCMessage): void {
		if (isJSONRPCRequest(message)) {
			this.#unanswered.add(message.id);
			this.#initializeId ??= message.method === "initialize" ? message.id : undefined;
		} else if (isJSONRPCNotification(message) && message.method === "notifications/cancelled") {
			this.#unanswered.delete(message.params?.requestId as RequestId);
		}
	}

	/** Returns whether a message answers one of the requests, and removes that request. */
	take(message: JSONRPCMessage): boolean {
		this.rejectsInitialize ||= isJSONRPCErrorResponse(message) && message.id === this.#initializeId;
		return !("method" in message) && this.#unanswered.delete(message.id as RequestId);
	}
}
