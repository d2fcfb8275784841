import type { EngineExit } from "./engine.js";
import { EngineError } from "./engine-error.js";

/** A message on its way: the header as JSON text. */
export interface Packet {
	readonly header: string;
	readonly bytes?: Uint8Array;
}

/** The commands of a machine. The answer to `hello` arrives by itself when the machine is ready. */
export type Command =
	| { readonly kind: "hello" }
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

interface Waiting {
	readonly command: Command;
	resolve(packets: Packet[]): void;
	reject(error: EngineError): void;
}

/**
 * Hands commands to a machine one at a time, and ends a machine that takes longer than `timeoutMs` for one.
 *
 * Commands that the machine can no longer answer reject with an `EngineError` of the exit's code.
 */
export class CommandQueue {
	readonly exited: Promise<EngineExit>;
	readonly #port: Port;
	readonly #timeoutMs: number;
	readonly #waiting: Waiting[] = [];
	#running: Waiting | undefined;
	#timer: NodeJS.Timeout | undefined;
	/** Why the machine was ended, if from here. */
	#reason: EngineExit | undefined;
	#exit: EngineExit | undefined;
	#settleExited: (exit: EngineExit) => void = () => {};

	constructor(open: (events: PortEvents) => Port, timeoutMs: number) {
		this.#timeoutMs = timeoutMs;
		this.exited = new Promise((resolve) => {
			this.#settleExited = resolve;
		});
		this.#port = open({
			reply: (packets) => this.#onReply(packets),
			ended: (exit) => this.#onEnded(exit),
		});
	}

	request(command: Command): Promise<Packet[]> {
		return new Promise((resolve, reject) => {
			this.#waiting.push({ command, resolve, reject });
			this.#next();
		});
	}

	close(): void {
		this.#end({ code: "closed", detail: "closed by its owner" });
	}

	#end(reason: EngineExit): void {
		if (this.#exit || this.#reason) {
			return;
		}
		this.#reason = reason;
		this.#port.kill();
		this.#rejectAll(reason);
	}

	#next(): void {
		const exit = this.#exit ?? this.#reason;
		if (exit) {
			this.#rejectAll(exit);
		}
		this.#running ??= this.#start();
	}

	#start(): Waiting | undefined {
		const next = this.#waiting.shift();
		if (!next) {
			return undefined;
		}
		if (Number.isFinite(this.#timeoutMs)) {
			this.#timer = setTimeout(() => this.#onTimeout(), this.#timeoutMs);
		}
		this.#port.send(next.command);
		return next;
	}

	#onReply(packets: Packet[]): void {
		const answered = this.#running;
		clearTimeout(this.#timer);
		this.#running = undefined;
		answered?.resolve(packets);
		this.#next();
	}

	#onTimeout(): void {
		this.#end({ code: "unresponsive", detail: `no answer within ${this.#timeoutMs} ms` });
	}

	#onEnded(exit: EngineExit): void {
		this.#exit = this.#reason ?? exit;
		this.#rejectAll(this.#exit);
		this.#settleExited(this.#exit);
	}

	#rejectAll(exit: EngineExit): void {
		clearTimeout(this.#timer);
		const commands = [this.#running, ...this.#waiting.splice(0)];
		this.#running = undefined;
		for (const command of commands) {
			command?.reject(new EngineError(exit.code, `The machine ended (${exit.code}): ${exit.detail}`));
		}
	}
}
