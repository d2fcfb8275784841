import type { Message } from "../engine/engine.js";

/** A service of Node for the firmware. */
export interface Service {
	/** The prefix of its message kinds: "ws" for "ws.open", "ws.write", … */
	readonly prefix: string;
	/** A message of the firmware; `kind` without the prefix. */
	take(kind: string, args: readonly unknown[], bytes: Uint8Array | undefined): void;
	/** Releases everything, without further messages to the firmware. */
	close(): void;
}

/** Sends a message to the firmware. */
export type Deliver = (message: Message) => void;
