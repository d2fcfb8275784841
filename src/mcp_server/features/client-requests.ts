import { isObject } from "../../core/text/json.js";
import { fitsUtf8 } from "../../core/text/utf8.js";
import { notificationMessage, type Params } from "../json-rpc.js";
import type { McpSession } from "../mcp-session.js";
import type { StopWaiting, ToolCall } from "../tool-call.js";
import { Asking, type Question } from "./ask.js";
import type { Feature } from "./feature-server.js";

/** Maximum number of unanswered requests, in all sessions together. */
const MAX_OPEN = 8;

/** Milliseconds that the client has to answer. */
const TIMEOUT = 300_000;

interface OpenRequest {
	readonly session: McpSession<unknown>;
	readonly question: Question;
	readonly settle: (response: Params) => void;
}

/** Questions to clients up to 2025-11-25: requests of the device in the session (client/elicitation). */
export class ClientRequests extends Asking implements Feature<unknown> {
	readonly capabilities = {};
	private readonly open = new Map<string, OpenRequest>();
	private count = 0;

	get names(): readonly string[] {
		return ["form", "message", ...[...this.open.values()].flatMap(({ question }) => question.names)];
	}

	/**
	 * Sends the question as a request in the session. Rejects after a timeout, or when the call is cancelled or ends. Throws Error
	 * if it is too long for the connection, or too many are open.
	 */
	ask<T>(call: ToolCall, question: Question<T>): Promise<T> {
		if (this.open.size >= MAX_OPEN) {
			throw new Error(`too many open requests to clients (limit ${MAX_OPEN})`);
		}
		this.count += 1;
		const id = `s${this.count}`;
		const { method, params } = question;
		const { session } = call;
		const { timer } = session.server;
		const request = JSON.stringify({ jsonrpc: "2.0", id, method, params });
		if (!fitsUtf8(request, session.maxBytes - session.wrapper.bytes)) {
			throw new Error(`${method}: the question is too long for the connection (limit ${session.maxBytes} bytes)`);
		}
		return new Promise<T>((resolve, reject) => {
			const end = (): void => {
				this.open.delete(id);
				timer?.clear(timeout);
			};
			const giveUp: StopWaiting = (reason) => {
				end();
				session.notify(notificationMessage("notifications/cancelled", { requestId: id }));
				if (reason !== undefined) {
					reject(reason);
				}
			};
			call.startWaiting(giveUp);
			const timeout = timer?.set(() => {
				call.endWaiting(giveUp);
				giveUp(new Error(`the client did not answer ${method} within ${TIMEOUT / 1_000} s`));
			}, TIMEOUT);
			const settle = (response: Params): void => {
				end();
				call.endWaiting(giveUp);
				try {
					resolve(readResponse(response, question));
				} catch (error) {
					reject(error);
				}
			};
			this.open.set(id, { session, question, settle });
			session.notify(request);
		});
	}

	takeResponse(session: McpSession<unknown>, response: Params): boolean {
		const open = typeof response.id === "string" ? this.open.get(response.id) : undefined;
		if (open?.session !== session || !("result" in response || "error" in response)) {
			return false;
		}
		open.settle(response);
		return true;
	}
}

/** @throws Error if the client's answer is an error or not valid */
const readResponse = <T>({ result, error }: Params, { method, read }: Question<T>): T => {
	if (!isObject(result)) {
		const words = isObject(error) && typeof error.message === "string" ? error.message : "no result";
		throw new Error(`the client did not answer ${method}: ${words}`);
	}
	try {
		return read(result);
	} catch (error) {
		throw new Error(`invalid answer to ${method} from the client: ${(error as Error).message}`);
	}
};
