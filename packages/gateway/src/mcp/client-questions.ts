import {
	isSpecType,
	type JSONRPCErrorResponse,
	type JSONRPCResultResponse,
	ProtocolError,
	ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import type { Question } from "xs-mcp-manager/core";
import { ANSWER_TIME, type ClientRequest } from "./client-request.js";

interface Pending {
	readonly resolve: (answer: object) => void;
	readonly reject: (error: Error) => void;
	readonly isValid: (answer: unknown) => boolean;
}

const ANSWERS: Readonly<Record<Question["method"], (answer: unknown) => boolean>> = {
	"elicitation/create": isSpecType.ElicitResult,
	"sampling/createMessage": isSpecType.CreateMessageResultWithTools,
	"roots/list": isSpecType.ListRootsResult,
};

/** Requests to a client in its session, as the revisions until 2025-11-25 have them. */
export class ClientQuestions {
	/** The unanswered questions, by request id. */
	readonly #pending = new Map<unknown, Pending>();
	/** The first question has id 1: some clients take 0 for no id. */
	#lastId = 0;

	/**
	 * Asks the client while it waits for one of its requests. Rejects with the client's error, on a time-out or an invalid answer.
	 *
	 * @param signal withdraws the question
	 */
	async ask(question: Question, request: ClientRequest, signal: AbortSignal): Promise<object> {
		this.#lastId += 1;
		const id = this.#lastId;
		const { method, params } = question;
		const isValid = ANSWERS[method];
		const ended = AbortSignal.any([signal, request.signal]);
		let withdraw = (): void => {};
		let timer: NodeJS.Timeout | undefined;
		try {
			return await new Promise<object>((resolve, reject) => {
				const cancel = (reason: string): void => {
					const cancelled = { requestId: id, reason };
					request.notify("notifications/cancelled", cancelled);
					reject(new ProtocolError(ProtocolErrorCode.InternalError, reason));
				};
				withdraw = () => cancel("the question was withdrawn");
				if (ended.aborted) {
					reject(new ProtocolError(ProtocolErrorCode.InternalError, "cancelled"));
					return;
				}
				ended.addEventListener("abort", withdraw, { once: true });
				timer = setTimeout(() => cancel(`${method}: no answer within ${ANSWER_TIME / 1_000} s`), ANSWER_TIME);
				this.#pending.set(id, { resolve, reject, isValid });
				request.channel.send({ jsonrpc: "2.0", id, method, ...(params && { params: { ...params } }) }, request);
			});
		} finally {
			clearTimeout(timer);
			ended.removeEventListener("abort", withdraw);
			this.#pending.delete(id);
		}
	}

	/** Takes an answer of the client. */
	answered(response: JSONRPCResultResponse | JSONRPCErrorResponse): void {
		const pending = this.#pending.get(response.id);
		if ("error" in response) {
			const { code, message, data } = response.error;
			pending?.reject(ProtocolError.fromError(code, message, data));
		} else if (pending?.isValid(response.result) === false) {
			pending.reject(new ProtocolError(ProtocolErrorCode.InternalError, "the client's answer is not valid MCP"));
		} else {
			pending?.resolve(response.result);
		}
	}

	/** Rejects the questions without an answer: the client has disconnected. */
	close(): void {
		for (const { reject } of this.#pending.values()) {
			reject(new ProtocolError(ProtocolErrorCode.InternalError, "the client has disconnected"));
		}
	}
}
