/**
 * A message between Node and the firmware's engine: a short JSON-able header and optional raw bytes.
 *
 * Headers are small arrays such as `["timer.fired", 3]`; payloads that matter for speed or fidelity travel in `bytes`.
 */
export interface Message {
	readonly header: readonly unknown[];
	readonly bytes?: Uint8Array;
}

/** Limits of an XS machine's heap. An engine without such limits (V8) ignores them. */
export interface HeapLimits {
	/** Limit of slots, built-ins included. */
	readonly slots?: number;
	/** Bytes of chunk memory (strings, buffers, byte code). */
	readonly chunkBytes?: number;
	/** Slots of the XS stack, without the some 140 of built-ins, which a device has in flash. Default 4096. */
	readonly stackSlots?: number;
}

/** How to start a machine. */
export interface EngineOptions {
	/** Receives the script's traces, in pieces that need not be lines. Without it they are dropped. */
	readonly onTrace?: (text: string) => void;
	/** Hard limits: a machine that needs more ends. Without them it starts small and grows, up to 256 MB. */
	readonly limits?: HeapLimits;
	/** Longest time for one command, in milliseconds; the machine then ends as `unresponsive`. Default 10,000. `Infinity`: no limit. */
	readonly timeoutMs?: number;
	/** Seed of `Math.random`, from 1 to 999,999,999: the same numbers at each start of this kind of engine. Default: the system's. */
	readonly seed?: number;
}

/** The heap of an XS machine. Slots are 16 bytes on a 32-bit machine such as the ESP32, 32 bytes on 64 bits. */
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
	/** Collections so far, the one before this report included; wraps around after 65,535. */
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
	/** One or a few lines to show: the exception and its stack, or the last output of the process. */
	readonly detail: string;
}

/**
 * Why an engine, or a command to it, failed. Codes are stable: tests and users may match on them.
 *
 * - the codes of an exit: the machine had ended, or ended while the command was waiting or running;
 * - `no-sources`: the XS sources are not installed; `no-compiler`, `no-32-bit-compiler`, `no-32-bit-programs`, `compile-failed`: they could not
 *   be built;
 * - `start-failed`: the process or thread of the machine could not be started;
 * - `invalid-header`: the script posted a header that is no JSON array. The machine continues.
 */
type EngineErrorCode =
	| EngineExitCode
	| "no-sources"
	| "no-compiler"
	| "no-32-bit-compiler"
	| "no-32-bit-programs"
	| "compile-failed"
	| "start-failed"
	| "invalid-header";

/** Failure of an engine, or of a command to it. */
export class EngineError extends Error {
	readonly code: EngineErrorCode;

	constructor(code: EngineErrorCode, message: string, options?: ErrorOptions) {
		super(message, options);
		this.name = "EngineError";
		this.code = code;
	}
}

export type { QueuedEngine as Engine } from "./queued-engine.js";
