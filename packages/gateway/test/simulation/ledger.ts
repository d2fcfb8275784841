import type { Answer } from "./core.js";

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
	/** "unsure": the command could not say. "lost": NATS has lost its disk. */
	state: "valid" | "removed" | "unsure" | "lost";
}

/** A device was given an alias. */
interface Naming {
	readonly alias: string;
	/** Whether it must stay. Else it may, or may not, be stored, such as if another gateway names the device as well. */
	isSure: boolean;
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
	/** Codes of `token code`, and the gateways that have accepted each. */
	readonly codes: { readonly code: string; readonly takenBy: string[] }[] = [];
	readonly events: Reported[] = [];
	/** By their place in the plan: the newest of each. */
	readonly tokens = new Map<number, Token>();
	readonly removed: Token[] = [];
	/** The alias that each device was given last, by its id. */
	readonly aliases = new Map<string, Naming>();
	/** How many names devices are being given or are losing, now or perhaps later, by their ids. */
	readonly #openNames = new Map<string, number>();
	/** Makes the names of tokens differ. */
	names = 0;
	/** How often NATS has lost its disk. */
	losses = 0;

	/** Counts that a device is being given or is losing a name, or that this is over. Returns how many are open then. */
	openName(id: string, change: 1 | -1): number {
		const open = (this.#openNames.get(id) ?? 0) + change;
		this.#openNames.set(id, open);
		return open;
	}

	/** NATS has lost its disk. */
	loseEverything(): void {
		this.losses += 1;
		for (const each of [...this.events, ...this.aliases.values()]) {
			each.isSure = false;
		}
		for (const token of this.tokens.values()) {
			token.state = token.state === "removed" ? "removed" : "lost";
		}
	}
}
