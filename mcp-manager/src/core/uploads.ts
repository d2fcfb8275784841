import type { CallToolResult, RequestId } from "@modelcontextprotocol/client";
import type { OrInput } from "./asking.js";
import type { ServerTool } from "./offers.js";
import type { ServerIdentity } from "./server-transport.js";
import type { Capabilities } from "./session.js";

/** Lets devices upload files during their calls: the gateway's pictures. */
export interface Uploads {
	/** A session starts. Returns the capabilities sent to the device in `initialize`. */
	begin(identity: ServerIdentity): Capabilities;
	/** A session has ended. */
	end(identity: ServerIdentity): void;
	/** The tools of a device as clients see them. */
	offered(tools: readonly ServerTool[]): readonly ServerTool[];
	/**
	 * A call starts. Resolves when the device may upload; with undefined if the tool uploads nothing.
	 *
	 * Rejects with {@link ServerError} "invalid-arguments" if the device would not know where to.
	 */
	start(identity: ServerIdentity, tool: ServerTool, args: object): Promise<Upload | undefined>;
}

/** A call during which the device may upload. */
export interface Upload {
	/** The call's arguments, with the address of the upload. */
	readonly args: object;
	/** The call is sent, as the request with this id. */
	sent?(id: RequestId): void;
	/** The call's result, with what was uploaded. */
	complete(result: OrInput<CallToolResult>): OrInput<CallToolResult>;
	/** The call has ended, however it did. */
	end(): void;
}
