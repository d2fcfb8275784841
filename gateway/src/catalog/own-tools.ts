import type { CallToolResult, Tool } from "@modelcontextprotocol/server";

/** A tool of the gateway itself, besides those of its servers. */
export interface OwnTool {
	readonly listed: Tool;
	readonly call: (args: object, caller: OwnToolCaller) => Promise<CallToolResult>;
}

/** The client that calls a tool of the gateway. */
export interface OwnToolCaller {
	readonly principal: string;
	readonly signal: AbortSignal;
	/** Asks the person for a yes. Rejects if the client cannot ask, or has to be asked by the result of its request. */
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
