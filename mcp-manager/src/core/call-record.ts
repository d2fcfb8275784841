import type { CallToolResult } from "@modelcontextprotocol/client";
import type { ServerErrorCode } from "./errors.js";
import type { ServerTool } from "./offers.js";

/** A call that has ended. */
export interface CallRecord {
	/** Caller: a token's name, or "local". */
	readonly principal: string;
	readonly serverId: string;
	/** As the server names it. */
	readonly tool: string;
	/** Milliseconds, waiting included. */
	readonly duration: number;
	/** "failed": the tool reported an error. "rejected": the server answered with a JSON-RPC error. */
	readonly outcome: "ok" | "failed" | "rejected" | ServerErrorCode;
}

/** The content of a call that has ended. It may hold secrets, so logs and events omit it. */
export interface CallDetails {
	readonly tool: ServerTool;
	readonly args: object;
	/** Undefined if the call was rejected, or if the server wants input first. */
	readonly result: CallToolResult | undefined;
	/** The application that called, as it names itself. */
	readonly clientName: string | undefined;
}
