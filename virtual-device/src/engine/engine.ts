/**
 * What passes between Node and the firmware's engine: a short JSON-able header and, where there are any, raw bytes.
 *
 * Headers are small arrays such as `["timer.fired", 3]`; payloads that matter for speed or fidelity travel in `bytes`.
 */
export interface Message {
	readonly header: readonly unknown[];
	readonly bytes?: Uint8Array;
}

/** Limits of an XS machine's heap. An engine without such limits (V8) ignores them. */
export interface HeapLimits {
	/** Slots the machine may hold in all, built-ins included. */
	readonly slots?: number;
	/** Bytes of chunk memory (strings, buffers, byte code). */
	readonly chunkBytes?: number;
	/** Slots of the XS stack. */
	readonly stackSlots?: number;
}

/** What an XS machine reports of its heap. Slots are 16 bytes on a 32-bit machine such as the ESP32, 32 bytes on 64 bits. */
export interface HeapReport {
	/** Slots in use, and the highest number seen. */
	readonly slots: number;
	readonly peakSlots: number;
	/** Chunk bytes in use, and the highest number seen. */
	readonly chunkBytes: number;
	readonly peakChunkBytes: number;
	/** Highest use of the XS stack, in slots. */
	readonly peakStackSlots: number;
	/** Size of a slot in bytes: 16 or 32. */
	readonly slotBytes: number;
	/** Collections so far, the one before this report included; after 65,535 it begins again with 0. */
	readonly collections: number;
}

/** Why an engine ended. Codes are stable: tests and users may match on them. */
export type EngineExitCode =
	| "closed"
	| "exception"
	| "unhandled-rejection"
	| "out-of-memory"
	| "stack-overflow"
	| "unresponsive"
	| "crashed";

export interface EngineExit {
	readonly code: EngineExitCode;
	/** One or a few lines for a person: the exception and its stack, or what the process said last. */
	readonly detail: string;
}

/**
 * One machine that executes a firmware bundle: a fresh realm with the globals `post(headerJson, arrayBuffer?)` and
 * `trace(...strings)`, which hands messages to the function the bundle puts in `globalThis.onHostMessage(headerJson, arrayBuffer?)`.
 *
 * A command (`run` or `deliver`) resolves with everything the script posted until its promise jobs had run dry, in
 * order. Commands are queued: one is in the machine at a time.
 */
export interface Engine {
	/** For people: "XS 13.3 (64-bit)", "V8 11.3". */
	readonly name: string;
	/** Evaluates a classic script. */
	run(script: string): Promise<Message[]>;
	/** Hands messages to the script, in order, as one receive window. */
	deliver(messages: readonly Message[]): Promise<Message[]>;
	/** Collects garbage, then reports. `undefined` where the engine cannot tell. */
	heap(): Promise<HeapReport | undefined>;
	/** Settles when the machine has ended, for whatever reason. Never rejects. */
	readonly exited: Promise<EngineExit>;
	/** Ends the machine. Safe to call twice. */
	close(): void;
}
