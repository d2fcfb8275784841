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
	/** The application, as it names itself. */
	readonly clientName: string | undefined;
	/** Tells the client how far the call has come. A task shows the message. */
	progress(progress: number, total: number, message: string): void;
	/** Asks the user for confirmation. Rejects if the client cannot ask, or has to be asked by the result of its request. */
	ask(question: string): Promise<boolean>;
	/** Sends the client a log message, possibly after the call. */
	notify(text: string): void;
	/**
	 * Registers a function to call when the client has disconnected.
	 *
	 * @throws Error if there is no session
	 */
	onClosed(end: () => void): void;
}
