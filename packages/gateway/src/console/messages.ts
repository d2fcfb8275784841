// Messages to the console's page.
import type { McpConnection } from "xs-mcp-manager";
import type { CallRecord } from "xs-mcp-manager/core";
import type { IconName } from "../catalog/icon-paths.js";
import type { TokenRecord } from "../config/access.js";
import type { BindingSummary } from "../devices/bootstrap/bootstrap-routes.js";
import type { FirmwareUpdate } from "../devices/firmware/firmware-updates.js";
import type { GatewayUrls } from "../gateway.js";
import type { ConnectedClient } from "../transports/session.js";

/** The tag of devices that come first in the console. */
export const FAVOURITE = "favourite";

/** Problems of a device, the worst first. */
export const PROBLEMS = ["offline", "fatal", "rolledBack", "lastCall"] as const;

export type Problem = (typeof PROBLEMS)[number];

/** A row of the table of devices and configured servers. */
export interface FleetRow {
	readonly id: string;
	readonly alias: string;
	/** The operator's name for it; absent if it has none. */
	readonly title?: string;
	readonly kind: "device" | "server";
	readonly icon: IconName;
	readonly tags: readonly string[];
	/** Its board, or the server's name, and its version. */
	readonly board: string;
	readonly version: string;
	readonly online: boolean;
	readonly transport?: string;
	/** The state that it has reported: "idle", "speaking". */
	readonly state?: string;
	/** Time since when it is online, or when it was last seen. Milliseconds since 1970. */
	readonly since: number;
	/** Their number, user-only ones included. */
	readonly tools: number;
	readonly calls?: CallStatistics;
	/** The last step of its firmware's update. */
	readonly update?: FirmwareEntry;
	readonly problem?: Problem;
	/** On the start page: its last status, and the tools that set its parts. Absent if the page may not read it. */
	readonly status?: object;
	readonly setters?: readonly string[];
}

/** A state that a device was in, since a time in milliseconds since 1970. */
export interface StateChange {
	readonly state: string;
	readonly since: number;
}

/** Everything about one device. */
export interface DeviceDetail {
	readonly row: FleetRow;
	/** The last status that it has reported; absent if none is known, or the page may not read it. */
	readonly status?: object;
	/** The states that it went through since the gateway started, the oldest first. */
	readonly states: readonly StateChange[];
	/** Its last calls, the newest first. */
	readonly calls: readonly CallEntry[];
	/** Its last events, the newest first. */
	readonly events: readonly EventEntry[];
	/** The page of a virtual device on the gateway's computer. */
	readonly pageUrl?: string;
	/** The tools that the page may not call because they are for people, and its token is not. */
	readonly locked: readonly { readonly name: string; readonly title?: string }[];
}

/** An event of a device. */
export interface EventEntry {
	readonly eventId: string;
	/** The name of its type: "button.pressed". */
	readonly name: string;
	/** Milliseconds since 1970. */
	readonly time: number;
	/** Data in the form that its type describes, without the device. */
	readonly data: Readonly<Record<string, unknown>>;
}

/** A part of the table. */
export interface FleetList {
	/** Devices that the query finds. */
	readonly found: number;
	readonly offset: number;
	readonly rows: readonly FleetRow[];
}

/** All devices and configured servers in numbers. */
export interface FleetTotals {
	readonly all: number;
	readonly online: number;
	readonly problems: Readonly<Record<Problem, number>>;
	readonly tags: readonly string[];
}

/** Calls since the gateway started; failures caused by the caller are not counted; the percentiles are of the last ones, in milliseconds. */
export interface CallStatistics {
	readonly count: number;
	readonly failed: number;
	readonly p50: number;
	readonly p95: number;
	readonly lastFailed: boolean;
}

/** A call that has ended. */
export interface CallEntry extends CallRecord {
	/** Increases with each call. */
	readonly number: number;
	/** The application that called, as it names itself. */
	readonly client?: string | undefined;
	/** The tool's title. */
	readonly title?: string | undefined;
	/** JSON, cut, without secrets. Arguments and answer are absent if the page may not see them. */
	readonly args?: string | undefined;
	readonly answer?: string | undefined;
	/** In milliseconds since 1970. */
	readonly time: number;
}

/** A connection or message of a device that was rejected. */
export interface RejectionEntry {
	readonly time: number;
	readonly description: string;
}

/** A step of a firmware update. */
export interface FirmwareEntry extends FirmwareUpdate {
	readonly time: number;
}

/** A configured server; `url` is its URL or command, without secrets. */
type ServerEntry = Pick<McpConnection, "id" | "url" | "transport" | "status" | "tools" | "lastError">;

/** Lists that are sent as a whole when they have changed: they are short. */
export interface OperatorLists {
	/** Devices that wait for approval. */
	readonly approvals: readonly BindingSummary[];
	readonly clients: readonly ConnectedClient[];
	readonly servers: readonly ServerEntry[];
	readonly rejections: readonly RejectionEntry[];
}

/** One message of the stream. What is absent has not changed. */
export interface FleetMessage extends Partial<OperatorLists> {
	/** The name of the stream, by which the page says what it looks at. In the first message. */
	readonly stream?: string;
	readonly totals?: FleetTotals;
	/** The part of the table that the page looks at. */
	readonly list?: FleetList;
	readonly device?: DeviceDetail | null;
}

/** The signed-in user of the console, and this gateway. */
export interface ConsoleSessionInfo {
	readonly principal: string;
	/** Whether a person has signed in with a token, and can sign out. */
	readonly signedIn: boolean;
	/** The ids of the only devices that may be reached; absent: all. */
	readonly devices?: readonly string[];
	/** Whether nothing may be changed: tools are called only if they are known to be read-only. */
	readonly readOnly: boolean;
	/** Whether tokens and configured servers may be changed. */
	readonly operator: boolean;
	readonly version: string;
	readonly urls: GatewayUrls;
	/** Whether only devices on this machine can connect. */
	readonly isLoopback: boolean;
	readonly needsToken: boolean;
	readonly hasFirmware: boolean;
	/** Whether the client may have devices say texts. */
	readonly hasVoice: boolean;
	/** The command of this installation that connects an application of this machine; absent for other machines. */
	readonly bridge?: { readonly command: string; readonly args: readonly string[] };
	/** Whether `console/xs-mcp-gateway.mcpb` can be downloaded. */
	readonly hasExtension: boolean;
}

/** A token, as the operator sees it: without its secret. */
export interface TokenSummary extends Omit<TokenRecord, "sha256" | "salt" | "grant"> {
	/** The name of a client that has signed in; absent for tokens that an operator made. */
	readonly client?: string;
	/** Aliases of its devices; ids of those that are not known. */
	readonly names?: readonly string[];
	/** In milliseconds since 1970; absent: never. */
	readonly lastUsed?: number;
	/** An edit names the revision that it replaces. */
	readonly revision: number;
}

/** Question to the operator before a token is created or edited, if that affects others: the member `question` of a 409. */
export interface TokenQuestion {
	/** Whether it is the first token for this kind: from then on every client, or every device, needs one. */
	readonly isFirst: boolean;
	/** Whether no operator's token would be left. */
	readonly isLastOperator: boolean;
	readonly clients: readonly string[];
	/** The aliases of the devices that would be disconnected. */
	readonly devices: readonly string[];
	/** The ids of the token's devices that have never connected. */
	readonly unknown: readonly string[];
}
