import vm from "node:vm";
import type { Engine, EngineExit, EngineExitCode, Message } from "./engine.js";
import { EngineError } from "./engine-error.js";

/** What the realm needs beyond ECMAScript to look like XS's. It runs inside, so that everything is of that realm. */
const PRELUDE = `
((post, encode, decode) => {
	globalThis.post = (header, bytes) => {
		if (typeof header !== "string") throw new TypeError("post: the header is no string");
		post(header, bytes && new Uint8Array(bytes));
	};
	ArrayBuffer.fromString = (text) => Uint8Array.from(encode(String(text))).buffer;
	String.fromArrayBuffer = (bytes) => {
		const text = decode(new Uint8Array(bytes));
		if (text === undefined) throw new TypeError("invalid UTF-8");
		return text;
	};
	return (header, bytes) => onHostMessage(header, bytes && Uint8Array.from(bytes).buffer);
})`;

type Hand = (header: string, bytes: Uint8Array | undefined) => void;

/** Starts a machine on V8, in a realm of its own within this process: fast, and there without a compiler. */
export async function startV8Engine({ onTrace }: { onTrace?: (text: string) => void } = {}): Promise<Engine> {
	return new V8Engine(onTrace);
}

/**
 * The realm has its own queue of promise jobs, which is run dry after each message ("afterEvaluate"). A rejection that
 * nobody handles shows in Node, whose process-wide event tells the realm's promises from others by their prototype.
 */
class V8Engine implements Engine {
	readonly name = `V8 ${process.versions.v8.split(".").slice(0, 2).join(".")}`;
	readonly exited: Promise<EngineExit>;
	readonly #context: vm.Context;
	readonly #hand: Hand;
	readonly #turn = new vm.Script("turn()");
	readonly #promise: new () => object;
	readonly #onRejection = (reason: unknown, promise: object): void => this.#rejected(reason, promise);
	#posted: Message[] = [];
	#exit: EngineExit | undefined;
	#resolveExit!: (exit: EngineExit) => void;

	constructor(onTrace: ((text: string) => void) | undefined) {
		this.exited = new Promise((resolve) => {
			this.#resolveExit = resolve;
		});
		const trace = (...texts: unknown[]): void => onTrace?.(texts.join(""));
		this.#context = vm.createContext({ trace }, { microtaskMode: "afterEvaluate" });
		const prelude = vm.runInContext(PRELUDE, this.#context) as (post: Hand, encode: unknown, decode: unknown) => Hand;
		this.#hand = prelude((header, bytes) => this.#post(header, bytes), encode, decode);
		this.#promise = vm.runInContext("Promise", this.#context) as new () => object;
		process.on("unhandledRejection", this.#onRejection);
	}

	run(script: string): Promise<Message[]> {
		return this.#perform(() => vm.runInContext(script, this.#context, { filename: "firmware.js" }));
	}

	deliver(messages: readonly Message[]): Promise<Message[]> {
		return this.#perform(() => {
			for (const { header, bytes } of messages) {
				this.#context.turn = () => this.#hand(JSON.stringify(header), bytes);
				this.#turn.runInContext(this.#context);
			}
		});
	}

	async heap(): Promise<undefined> {}

	close(): void {
		this.#end("closed", "closed");
	}

	async #perform(work: () => void): Promise<Message[]> {
		if (this.#exit === undefined) {
			try {
				work();
			} catch (error) {
				this.#end("exception", describe(error));
			}
			// Node reports an unhandled rejection a turn later.
			await new Promise((resolve) => setImmediate(resolve));
		}
		if (this.#exit !== undefined) {
			throw new EngineError(this.#exit.code, this.#exit.detail);
		}
		return this.#posted.splice(0);
	}

	#post(header: string, bytes: Uint8Array | undefined): void {
		this.#posted.push({ header: JSON.parse(header) as unknown[], ...(bytes && { bytes: Uint8Array.from(bytes) }) });
	}

	/** Another realm's rejection is another's business: Node would have ended the process for it. */
	#rejected(reason: unknown, promise: object): void {
		if (promise instanceof this.#promise) {
			this.#end("unhandled-rejection", describe(reason));
		} else if (process.listenerCount("unhandledRejection") === 1) {
			throw reason;
		}
	}

	#end(code: EngineExitCode, detail: string): void {
		if (this.#exit === undefined) {
			this.#exit = { code, detail };
			process.off("unhandledRejection", this.#onRejection);
			this.#resolveExit(this.#exit);
		}
	}
}

function encode(text: string): Uint8Array {
	return Buffer.from(text);
}

/** `undefined` for bytes that are no UTF-8: an exception would be of the wrong realm. */
function decode(bytes: Uint8Array): string | undefined {
	try {
		return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
	} catch {
		return undefined;
	}
}

function describe(error: unknown): string {
	const { stack } = (error ?? {}) as { stack?: unknown };
	return typeof stack === "string" ? stack : String(error);
}
