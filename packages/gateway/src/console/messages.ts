// Messages to the console's page.
import type { CallRecord } from "xs-mcp-manager/core";

/** The tag of devices that come first in the console. */
export const FAVOURITE = "favourite";

/** Problems of a device, the worst first. */
export const PROBLEMS = ["offline", "fatal", "rolledBack", "lastCall"] as const;

export type Problem = (typeof PROBLEMS)[number];

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
