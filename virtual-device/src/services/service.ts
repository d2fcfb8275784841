import type { Message } from "../engine/engine.js";

/** Something that Node does for the firmware. */
export interface Service {
	/** What the kinds of its messages begin with: "ws" for "ws.open", "ws.write", … */
	readonly prefix: string;
	/** A message of the firmware's; `kind` without the prefix. */
	take(kind: string, args: readonly unknown[], bytes: Uint8Array | undefined): void;
	/** Lets go of everything, without another word to the firmware. */
	close(): void;
}

/** Hands a message to the firmware. */
export type Deliver = (message: Message) => void;
