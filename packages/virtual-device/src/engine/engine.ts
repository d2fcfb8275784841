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
	/** Slots of the XS stack, without about 140 of built-ins, which a device has in flash. Default 4096. */
	readonly stackSlots?: number;
}

/** How to start a machine. */
export interface EngineOptions {
	/** Receives the script's traces, in pieces that need not be lines. Without it they are dropped. */
	readonly onTrace?: (text: string) => void;
	/** Hard limits: a machine that needs more ends. Without them it starts small and grows, up to 256 MB. */
	readonly limits?: HeapLimits;
	/** Longest time for one command, in milliseconds; the machine then ends as `unresponsive`. Default 10,000. */
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
 * - `start-failed`: the process or thread of the machine could not be started.
 */
type EngineErrorCode =
	| EngineExitCode
	| "no-sources"
	| "no-compiler"
	| "no-32-bit-compiler"
	| "no-32-bit-programs"
	| "compile-failed"
	| "start-failed";

/** Failure of an engine, or of a command to it. */
export class EngineError extends Error {
	readonly code: EngineErrorCode;

	constructor(code: EngineErrorCode, message: string, options?: ErrorOptions) {
		super(message, options);
		this.name = "EngineError";
		this.code = code;
	}
}

/** A message on its way: the header as JSON text. */
export interface Packet {
	readonly header: string;
	readonly bytes?: Uint8Array;
}

/** The commands of a machine. */
export type Command =
	| { readonly kind: "run"; readonly script: string }
	| { readonly kind: "deliver"; readonly packets: readonly Packet[] }
	| { readonly kind: "heap" };

/** The connection to one machine: a process or a thread. */
export interface Port {
	send(command: Command): void;
	/** Ends the machine at once; `ended` is called when it has ended. */
	kill(): void;
}

/** Events of a port. `ended` is called once, and last. */
export interface PortEvents {
	reply(packets: Packet[]): void;
	ended(exit: EngineExit): void;
}

interface Running {
	resolve(packets: Packet[]): void;
	reject(error: EngineError): void;
}

/** Members of a report, in the order in which the machine sends them. */
const REPORT: readonly (keyof HeapReport)[] = [
	"slots",
	"peakSlots",
	"chunkBytes",
	"peakChunkBytes",
	"peakStackSlots",
	"slotBytes",
	"collections",
];

/**
 * One machine that executes a firmware bundle: a fresh realm with the globals `post(headerJson, arrayBuffer?)` and
 * `trace(...strings)`, which hands messages to the function the bundle puts in `globalThis.onHostMessage(headerJson, arrayBuffer?)`.
 *
 * A command (`run` or `deliver`) resolves with everything that the script posted, in order, until no promise jobs were
 * left. Commands are queued: one is in the machine at a time. A machine that takes longer than `timeoutMs` for one is ended.
 * Commands that the machine can no longer answer reject with an `EngineError` of the exit's code.
 */
export class Engine {
	/** Settles when the machine has ended, for any reason. Never rejects. */
	readonly exited: Promise<EngineExit>;
	readonly #port: Port;
	readonly #timeoutMs: number;
	/** Its display name: "XS 13.3 (64-bit)", "V8 11.3". */
	name = "";
	/** Settles when all commands so far were answered. */
	#answered: Promise<unknown> = Promise.resolve();
	#running: Running | undefined;
	#timer: NodeJS.Timeout | undefined;
	/** Why the machine has ended, or is ended from here. */
	#exit: EngineExit | undefined;
	#settleExited: (exit: EngineExit) => void = () => {};

	private constructor(open: (events: PortEvents) => Port, timeoutMs: number) {
		this.#timeoutMs = timeoutMs;
		this.exited = new Promise((resolve) => {
			this.#settleExited = resolve;
		});
		this.#port = open({
			reply: (packets) => this.#onReply(packets),
			ended: (exit) => this.#onEnded(exit),
		});
	}

	/**
	 * Starts a machine, and waits until it is ready.
	 *
	 * @param nameOf derives the engine's name from the machine's ready message
	 */
	static async start(
		open: (events: PortEvents) => Port,
		timeoutMs: number,
		nameOf: (hello: readonly unknown[]) => string,
	): Promise<Engine> {
		const engine = new Engine(open, timeoutMs);
		const [hello] = await engine.#request();
		engine.name = nameOf(hello?.header ?? []);
		return engine;
	}

	/** Evaluates a classic script. */
	async run(script: string): Promise<Message[]> {
		return await this.#request({ kind: "run", script });
	}

	/** Hands messages to the script, in order, as one receive window. */
	async deliver(messages: readonly Message[]): Promise<Message[]> {
		return await this.#request({ kind: "deliver", packets: messages.map(toPacket) });
	}

	/** Collects garbage, then reports. `undefined` if the engine does not report it. */
	async heap(): Promise<HeapReport | undefined> {
		const [report] = await this.#request({ kind: "heap" });
		return report && (Object.fromEntries(REPORT.map((name, at) => [name, report.header[at]])) as unknown as HeapReport);
	}

	/** Ends the machine. Safe to call twice. */
	close(): void {
		this.#end({ code: "closed", detail: "closed by its owner" });
	}

	/** Returns the answer to a command. @param command default: none, because the machine reports when it is ready */
	async #request(command?: Command): Promise<Message[]> {
		const answer = this.#answered.then(async () => await this.#ask(command));
		this.#answered = answer.catch(() => {});
		return (await answer).map(toMessage);
	}

	async #ask(command: Command | undefined): Promise<Packet[]> {
		return await new Promise((resolve, reject) => {
			this.#running = { resolve, reject };
			if (this.#exit) {
				this.#rejectRunning(this.#exit);
				return;
			}
			this.#timer = setTimeout(() => {
				this.#end({ code: "unresponsive", detail: `no answer in ${this.#timeoutMs / 1_000} s: is a loop endless?` });
			}, this.#timeoutMs);
			if (command !== undefined) {
				this.#port.send(command);
			}
		});
	}

	#end(reason: EngineExit): void {
		if (!this.#exit) {
			this.#exit = reason;
			this.#port.kill();
			this.#rejectRunning(reason);
		}
	}

	#onReply(packets: Packet[]): void {
		clearTimeout(this.#timer);
		this.#running?.resolve(packets);
	}

	#onEnded(exit: EngineExit): void {
		this.#exit ??= exit;
		this.#rejectRunning(this.#exit);
		this.#settleExited(this.#exit);
	}

	#rejectRunning({ code, detail }: EngineExit): void {
		clearTimeout(this.#timer);
		this.#running?.reject(new EngineError(code, `The machine ended (${code}): ${detail}`));
	}
}

function toPacket({ header, bytes }: Message): Packet {
	const json = JSON.stringify(header);
	return bytes ? { header: json, bytes } : { header: json };
}

/** @throws SyntaxError if the script has posted a header that is no JSON. The machine continues */
function toMessage({ header, bytes }: Packet): Message {
	return { header: JSON.parse(header), ...(bytes && { bytes }) };
}
