import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { Engine, EngineExit, EngineExitCode, HeapLimits, HeapReport, Message } from "./engine.js";
import { EngineError } from "./engine-error.js";
import { decodeNetstring, encodeNetstring, NetstringReader } from "./netstring.js";

export interface XsEngineOptions {
	/** The compiled host: see {@link buildXsHost}. */
	readonly hostPath: string;
	readonly limits?: HeapLimits;
	/** Milliseconds a command may take before the machine counts as hung. Default 10,000. */
	readonly timeoutMs?: number;
	/** What the script traces, as it comes. */
	readonly onTrace?: (text: string) => void;
}

interface Command {
	readonly bytes: Buffer;
	resolve(messages: Message[]): void;
	reject(error: EngineError): void;
}

/** What host.c says with its exit status. */
const EXIT_CODES: Readonly<Record<number, EngineExitCode>> = {
	0: "closed",
	11: "out-of-memory",
	12: "stack-overflow",
	15: "exception",
	16: "out-of-memory",
	18: "unhandled-rejection",
};

const NO_BYTES = Buffer.alloc(0);
const HEADER_ONLY = Buffer.from("h");
const WITH_BYTES = Buffer.from("b");
const REPLY = ".".charCodeAt(0);

/**
 * Starts an XS machine in a process of its own.
 *
 * Rejects with `EngineError` when the process does not come up.
 */
export async function startXsEngine(options: XsEngineOptions): Promise<Engine> {
	const engine = new XsEngine(options);
	await engine.started;
	return engine;
}

class XsEngine implements Engine {
	name = "XS";
	readonly exited: Promise<EngineExit>;
	/** The machine says hello without being asked. */
	readonly started: Promise<void>;
	readonly #process: ChildProcessByStdio<Writable, Readable, Readable>;
	readonly #timeoutMs: number;
	readonly #reader = new NetstringReader();
	readonly #queue: Command[] = [];
	#timer: NodeJS.Timeout | undefined;
	#closed = false;
	#unresponsive = false;
	/** What the machine said as it ended. */
	#lastWords = "";
	#exit: EngineExit | undefined;

	constructor({ hostPath, limits, timeoutMs = 10_000, onTrace }: XsEngineOptions) {
		this.#timeoutMs = timeoutMs;
		this.#process = spawn(hostPath, hostArguments(limits), { stdio: ["pipe", "pipe", "pipe"] });
		this.#process.stdin.on("error", () => {
			// The process has gone: its exit tells why.
		});
		this.#process.stdout.on("data", (chunk: Buffer) => this.#receive(chunk));
		this.#process.stderr.setEncoding("utf8").on("data", (text: string) => onTrace?.(text));
		this.exited = new Promise((resolve) => {
			this.#process.once("error", (error) => this.#end({ code: "crashed", detail: error.message }, resolve));
			this.#process.once("close", (status, signal) => this.#end(this.#describeExit(status, signal), resolve));
		});
		this.started = this.#hello();
	}

	run(script: string): Promise<Message[]> {
		return this.#perform(encodeNetstring(Buffer.from("e"), Buffer.from(script)));
	}

	deliver(messages: readonly Message[]): Promise<Message[]> {
		return this.#perform(encodeNetstring(Buffer.from("d"), ...messages.flatMap(encodeMessage)));
	}

	async heap(): Promise<HeapReport> {
		const [report] = await this.#perform(encodeNetstring(Buffer.from("m")));
		const [slots, peakSlots, chunkBytes, peakChunkBytes, peakStackSlots, slotBytes] = (report?.header ??
			[]) as number[];
		return { slots, peakSlots, chunkBytes, peakChunkBytes, peakStackSlots, slotBytes } as HeapReport;
	}

	close(): void {
		this.#closed = true;
		this.#process.kill("SIGKILL");
	}

	async #hello(): Promise<void> {
		const [hello] = await new Promise<Message[]>((resolve, reject) => this.#wait({ bytes: NO_BYTES, resolve, reject }));
		const [major, minor, bits] = (hello?.header ?? []) as number[];
		this.name = `XS ${major}.${minor} (${bits}-bit)`;
	}

	#perform(bytes: Buffer): Promise<Message[]> {
		return new Promise((resolve, reject) => {
			if (this.#exit !== undefined || this.#closed) {
				reject(new EngineError(this.#exit?.code ?? "closed", this.#exit?.detail ?? "the engine is closed"));
				return;
			}
			this.#wait({ bytes, resolve, reject });
		});
	}

	#wait(command: Command): void {
		this.#queue.push(command);
		if (this.#queue.length === 1) {
			this.#send(command);
		}
	}

	#send({ bytes }: Command): void {
		this.#timer = setTimeout(() => {
			this.#unresponsive = true;
			this.#process.kill("SIGKILL");
		}, this.#timeoutMs);
		this.#process.stdin.write(bytes);
	}

	#receive(chunk: Buffer): void {
		for (const reply of this.#reader.push(chunk)) {
			if (reply[0] === REPLY) {
				this.#answer(decodeMessages(reply));
			} else {
				this.#lastWords = reply.subarray(1).toString();
			}
		}
	}

	#answer(messages: Message[]): void {
		clearTimeout(this.#timer);
		const command = this.#queue.shift();
		const next = this.#queue[0];
		if (next !== undefined) {
			this.#send(next);
		}
		command?.resolve(messages);
	}

	#describeExit(status: number | null, signal: NodeJS.Signals | null): EngineExit {
		if (this.#unresponsive) {
			return { code: "unresponsive", detail: `no reply within ${this.#timeoutMs} ms` };
		}
		if (this.#closed) {
			return { code: "closed", detail: "closed" };
		}
		const code = (status !== null && EXIT_CODES[status]) || "crashed";
		return { code, detail: this.#lastWords || `the engine's process ended with ${signal ?? `status ${status}`}` };
	}

	#end(exit: EngineExit, resolve: (exit: EngineExit) => void): void {
		clearTimeout(this.#timer);
		this.#exit ??= exit;
		resolve(this.#exit);
		for (const command of this.#queue.splice(0)) {
			command.reject(new EngineError(this.#exit.code, this.#exit.detail));
		}
	}
}

function hostArguments({ slots, chunkBytes, stackSlots }: HeapLimits = {}): string[] {
	const flags: readonly [string, number | undefined][] = [
		["--slots", slots],
		["--chunk-bytes", chunkBytes],
		["--stack-slots", stackSlots],
	];
	return flags.flatMap(([flag, value]) => (value === undefined ? [] : [flag, String(value)]));
}

function encodeMessage({ header, bytes }: Message): Buffer[] {
	const encoded = encodeNetstring(Buffer.from(JSON.stringify(header)));
	return bytes === undefined ? [HEADER_ONLY, encoded] : [WITH_BYTES, encoded, encodeNetstring(bytes)];
}

/** The messages of a reply, after its first byte. */
function decodeMessages(reply: Buffer): Message[] {
	const messages: Message[] = [];
	let at = 1;
	while (at < reply.length) {
		const hasBytes = reply[at] === WITH_BYTES[0];
		const header = expectNetstring(reply, at + 1);
		at = header.end;
		const message = { header: JSON.parse(header.body.toString()) as unknown[] };
		if (hasBytes) {
			const bytes = expectNetstring(reply, at);
			at = bytes.end;
			messages.push({ ...message, bytes: bytes.body });
		} else {
			messages.push(message);
		}
	}
	return messages;
}

/** Within a reply nothing is missing. */
function expectNetstring(reply: Buffer, start: number): { body: Buffer; end: number } {
	const netstring = decodeNetstring(reply, start);
	if (netstring === undefined) {
		throw new SyntaxError("a reply was cut off");
	}
	return netstring;
}
