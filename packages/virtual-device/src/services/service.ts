import type { Message } from "../engine/engine.js";

/** A service of Node for the firmware. */
export interface Service {
	/** The prefix of its message kinds: "ws" for "ws.open", "ws.write", … */
	readonly prefix: string;
	/** Handles a message of the firmware; `kind` is without the prefix. */
	take(kind: string, args: readonly unknown[], bytes?: Uint8Array): void;
	/** Releases everything, without further messages to the firmware. */
	close(): void;
}

/** Sends a message to the firmware. */
export type Deliver = (message: Message) => void;

/** Handlers of messages by kind: each gets the message's arguments and bytes. */
export type Handlers = Readonly<Record<string, (args: never, bytes: Uint8Array) => void>>;

/** Makes a service of handlers. Messages of other kinds are ignored. */
export function makeService(prefix: string, handlers: Handlers, close = (): void => {}): Service {
	return {
		prefix,
		take: (kind, args, bytes = new Uint8Array(0)) => handlers[kind]?.(args as never, bytes),
		close,
	};
}
