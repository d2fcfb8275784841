import type { Answer } from "./core/simulated-gateway.js";

/** A call of a client. */
export interface Call {
	readonly n: number;
	readonly device: string;
	readonly gateway: string;
	/** Process of the gateway: its client hears nothing when that is killed. */
	readonly incarnation: number;
	readonly token: Token;
	readonly time: number;
	readonly answers: Answer[];
}

/** A token of a client. */
export interface Token {
	readonly name: string;
	/** The only device that it may reach; undefined: every device. */
	readonly device: string | undefined;
	secret: string | undefined;
	/** "unsure": the command was killed, or could not say. */
	state: "none" | "valid" | "removed" | "unsure";
	/** When and where it was added or removed. */
	time: number;
	gateway: string;
}

/** A code of `token code`. */
export interface Code {
	readonly code: string;
	readonly time: number;
	/** Gateways that have accepted it. */
	readonly takenBy: string[];
}

/** A device was given an alias. */
export interface Naming {
	readonly alias: string;
	readonly gateway: string;
	readonly time: number;
	/** "sure": it must stay. "disputed": it may be lost, such as if another device got it at the same time. */
	state: "unsure" | "disputed" | "sure";
}

/** An event of a device, which has arrived at a gateway. */
export interface Reported {
	readonly n: number;
	readonly device: string;
	readonly gateway: string;
	readonly incarnation: number;
	/** Whether the gateway must have it: the device is online, and NATS has not lost its disk since. */
	isSure: boolean;
}

/** Requests and their results, which the properties check. */
export class Ledger {
	readonly calls: Call[] = [];
	readonly codes: Code[] = [];
	readonly events: Reported[] = [];
	/** By their place in the plan: the newest of each. */
	readonly tokens = new Map<number, Token>();
	readonly removed: Token[] = [];
	/** The alias that each device was given last, by its id. */
	readonly aliases = new Map<string, Naming>();
}
