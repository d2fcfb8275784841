import type { CallToolResult, ServerContext, Tool } from "@modelcontextprotocol/server";
import { REVISION_OF_STATELESS } from "../core/asking.js";
import type { ClientServer } from "../mcp/client-server.js";

/** A tool of the gateway itself, besides those of its servers. */
export interface OwnTool {
	readonly listed: Tool;
	readonly call: (args: object, caller: OwnToolCaller) => Promise<CallToolResult>;
}

/** The client that calls a tool of the gateway. */
export interface OwnToolCaller {
	readonly principal: string;
	readonly signal: AbortSignal;
	/** Asks the person for a yes. Rejects if the client cannot ask. */
	readonly ask: (question: string) => Promise<boolean>;
	/** Tells the client something later, as a log message. */
	readonly notify: (text: string) => void;
	/**
	 * Is given what is to be called when the client is gone.
	 *
	 * @throws Error if there is no session
	 */
	readonly onClosed: (end: () => void) => void;
}

/** Milliseconds that a person has for an answer. */
const ANSWER_TIME = 300_000;

/** The client of this request. */
export function callerOf(
	client: ClientServer,
	{ mcpReq }: ServerContext,
	{ principal, onClosed }: Pick<OwnToolCaller, "principal" | "onClosed">,
): OwnToolCaller {
	const isStateless = client.revision >= REVISION_OF_STATELESS;
	return {
		principal,
		signal: mcpReq.signal,
		async ask(question) {
			if (isStateless || client.server.getClientCapabilities()?.elicitation === undefined) {
				throw new Error("this client cannot ask the person (it has no elicitation in a session)");
			}
			const { action } = await mcpReq.elicitInput(
				{ mode: "form", message: question, requestedSchema: { type: "object", properties: {} } },
				{ timeout: ANSWER_TIME, signal: mcpReq.signal },
			);
			return action === "accept";
		},
		notify(text) {
			// A client that has disconnected needs no news.
			client.server.sendLoggingMessage({ level: "info", logger: "mcp", data: text }).catch(() => {});
		},
		onClosed(end) {
			if (isStateless) {
				throw new Error("this needs a session, which this client does not have");
			}
			onClosed(end);
		},
	};
}
