import type { CallToolResult, RequestId } from "@modelcontextprotocol/client";
import { isObject } from "../firmware.js";
import type { OrInput } from "./asking.js";
import type { Capabilities, ServerIdentity } from "./connection.js";
import type { ServerErrorCode } from "./errors.js";
import type { ServerTool } from "./offers.js";

/** Lets devices upload files during their calls: the gateway's pictures. */
export interface Uploads {
	/** A session starts. Returns the capabilities sent to the device in `initialize`. */
	begin(identity: ServerIdentity): Capabilities;
	/** A session has ended. */
	end(identity: ServerIdentity): void;
	/** The tools of a device as clients see them. */
	offered(tools: readonly ServerTool[]): readonly ServerTool[];
	/**
	 * A call starts. Resolves when the device may upload. Returns undefined if the tool uploads nothing.
	 *
	 * Rejects with {@link ServerError} "invalid-arguments" if the device would not know where to.
	 */
	start(identity: ServerIdentity, tool: ServerTool, args: object): Promise<Upload> | undefined;
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

/** How calls to servers are limited. */
export interface CallLimits {
	/** Milliseconds that a call waits for a server that is offline. Default 10,000. */
	readonly offlineWait?: number;
	/** Milliseconds that a call waits for its turn, and that the server then has for it. Default 30,000. */
	readonly callTimeout?: number;
	/** Calls that one server works on at the same time. Default 4. */
	readonly callsPerServer?: number;
}

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

/** The arguments, at any depth of objects, with the defaults of required members that are missing. */
export function withDefaults<Value>(schema: unknown, value: Value): Value {
	if (!isObject(schema) || !isObject(schema.properties) || !isObject(value)) {
		return value;
	}
	const required: unknown = schema.required;
	const members = Object.entries(schema.properties).flatMap(([name, property]) => {
		const isMissing = isObject(property) && value[name] === undefined && "default" in property;
		if (isMissing) {
			return Array.isArray(required) && required.includes(name) ? [[name, property.default] as const] : [];
		}
		const member = withDefaults(property, value[name]);
		return member === value[name] ? [] : [[name, member] as const];
	});
	return members.length === 0 ? value : { ...value, ...Object.fromEntries(members) };
}
