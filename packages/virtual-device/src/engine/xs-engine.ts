import { type ChildProcess, spawn } from "node:child_process";
import {
	type Command,
	Engine,
	EngineError,
	type EngineExit,
	type EngineExitCode,
	type EngineOptions,
	type Packet,
	type Port,
	type PortEvents,
} from "./engine.js";

/** Longer than Node's time-out, so that this ends only a machine whose parent has ended. */
const ALARM_MARGIN_S = 5;

/**
 * Starts an XS machine in a child process.
 *
 * Rejects with an `EngineError`: `start-failed` where the binary cannot be run, or the code of the machine's exit where
 * it ended at once, such as `out-of-memory` where the limits leave no room for the built-ins.
 */
export async function startXsEngine(hostPath: string, options: EngineOptions = {}): Promise<Engine> {
	const timeoutMs = options.timeoutMs ?? 10_000;
	try {
		return await Engine.start((events) => openProcess(hostPath, options, timeoutMs, events), timeoutMs, nameOf);
	} catch (cause) {
		if (!(cause instanceof EngineError) || cause.code !== "crashed") {
			throw cause;
		}
		throw new EngineError("start-failed", `Cannot start the XS engine: ${cause.message}`, { cause });
	}
}

function nameOf([major, minor, bits]: readonly unknown[]): string {
	return `XS ${major}.${minor} (${bits}-bit)`;
}

function toArguments({ limits, seed }: EngineOptions, timeoutMs: number): string[] {
	const seconds = Number.isFinite(timeoutMs) ? Math.ceil(timeoutMs / 1000) + ALARM_MARGIN_S : undefined;
	const flags: [string, number | undefined][] = [
		["--slots", limits?.slots],
		["--chunk-bytes", limits?.chunkBytes],
		["--stack-slots", limits?.stackSlots],
		["--seed", seed],
		["--seconds", seconds],
	];
	return flags.flatMap(([flag, value]) => (value === undefined ? [] : [flag, String(value)]));
}

function openProcess(hostPath: string, options: EngineOptions, timeoutMs: number, events: PortEvents): Port {
	const { onTrace } = options;
	const child = spawn(hostPath, toArguments(options, timeoutMs), {
		stdio: ["pipe", "pipe", onTrace ? "pipe" : "ignore"],
		env: {},
	});
	if (onTrace) {
		child.stderr?.setEncoding("utf8").on("data", onTrace);
	}
	// Writing to a machine that has just ended fails; its exit says why.
	child.stdin?.on("error", () => {});
	listen(child, events);
	return {
		send: (command: Command) => void child.stdin?.write(encodeCommand(command)),
		kill: () => void child.kill("SIGKILL"),
	};
}

function listen(child: ChildProcess, events: PortEvents): void {
	const reader = new NetstringReader();
	let lastWords: string | undefined;
	let failure: Error | undefined;
	const receive = (chunk: Buffer): void => {
		for (const body of reader.push(chunk)) {
			const reply = decodeReply(body);
			if ("ended" in reply) {
				lastWords = reply.ended;
			} else {
				events.reply(reply.packets);
			}
		}
	};
	child.stdout?.on("data", (chunk: Buffer) => {
		if (failure) {
			return;
		}
		try {
			receive(chunk);
		} catch (error) {
			failure = error instanceof Error ? error : new Error(String(error));
			child.kill("SIGKILL");
		}
	});
	child.on("error", (error) => {
		failure = error;
	});
	// "close" rather than "exit": by then everything that the machine wrote has been read.
	child.on("close", (status, signal) => {
		events.ended(failure ? { code: "crashed", detail: failure.message } : toExit(status, signal, lastWords));
	});
}

// The other side of this, and its grammar: xs-host/host.c.

/** A body from the host: posted messages, or its final error. */
type Reply = { readonly packets: Packet[] } | { readonly ended: string };

const NO_BYTES = Buffer.alloc(0);
const RUN = Buffer.from("e");
const DELIVER = Buffer.from("d");
const HEAP = Buffer.from("m");
const HEADER_ONLY = Buffer.from("h");
const WITH_BYTES = Buffer.from("b");

/**
 * The bytes for the host's standard input. `hello` has none: its answer arrives by itself.
 *
 * @internal exported for the benchmark
 */
export function encodeCommand(command: Command): Buffer {
	switch (command.kind) {
		case "hello":
			return NO_BYTES;
		case "run":
			return encodeNetstring(RUN, Buffer.from(command.script));
		case "deliver":
			return encodeNetstring(DELIVER, ...command.packets.flatMap(encodePacket));
		case "heap":
			return encodeNetstring(HEAP);
	}
}

function encodePacket({ header, bytes }: Packet): Buffer[] {
	const encoded = encodeNetstring(Buffer.from(header));
	return bytes ? [WITH_BYTES, encoded, encodeNetstring(bytes)] : [HEADER_ONLY, encoded];
}

/** Throws a `SyntaxError` if the body is not one that the host writes. */
function decodeReply(body: Buffer): Reply {
	const kind = body.toString("latin1", 0, 1);
	if (kind === "!") {
		return { ended: body.toString("utf8", 1) };
	}
	if (kind !== ".") {
		throw new SyntaxError(`not a reply: it begins with "${kind}"`);
	}
	return { packets: decodePackets(body) };
}

/** The messages of a reply, after its first byte. */
function decodePackets(body: Buffer): Packet[] {
	const packets: Packet[] = [];
	let at = 1;
	while (at < body.length) {
		const kind = body[at];
		if (kind !== HEADER_ONLY[0] && kind !== WITH_BYTES[0]) {
			throw new SyntaxError("not a reply: expected a message");
		}
		const header = readNetstring(body, at + 1);
		const bytes = kind === WITH_BYTES[0] ? readNetstring(body, header.end) : undefined;
		const text = header.body.toString();
		// Copied, because the body is a view of the pipe's buffer.
		packets.push(bytes ? { header: text, bytes: new Uint8Array(bytes.body) } : { header: text });
		at = (bytes ?? header).end;
	}
	return packets;
}

/** Within a reply nothing is missing. */
function readNetstring(body: Buffer, start: number): { body: Buffer; end: number } {
	const netstring = decodeNetstring(body, start);
	if (!netstring) {
		throw new SyntaxError("not a reply: it was cut off");
	}
	return netstring;
}

const EXIT_CODES: ReadonlyMap<number, EngineExitCode> = new Map([
	[0, "closed"], // end of standard input
	[11, "out-of-memory"],
	[12, "stack-overflow"],
	[15, "exception"],
	[16, "out-of-memory"], // of property names
	[18, "unhandled-rejection"],
]);

/** Makes an exit from the host's exit status and last output. */
function toExit(status: number | null, signal: string | null, lastWords: string | undefined): EngineExit {
	// The host's own alarm, which ends an unattended loop.
	if (signal === "SIGALRM") {
		return { code: "unresponsive", detail: "ended by its own alarm" };
	}
	const how = signal ? `ended by ${signal}` : `ended with status ${status}`;
	return { code: EXIT_CODES.get(status ?? -1) ?? "crashed", detail: lastWords ?? how };
}

const COLON = 0x3a;
const COMMA = 0x2c;
const ZERO = 0x30;

/** A netstring: `<length>:<body>,`. */
function encodeNetstring(...parts: readonly Uint8Array[]): Buffer {
	const length = parts.reduce((bytes, part) => bytes + part.byteLength, 0);
	return Buffer.concat([Buffer.from(`${length}:`), ...parts, Buffer.from(",")]);
}

/**
 * Reads one complete netstring from a buffer.
 *
 * @returns the body and the start of the next one; `undefined` if the netstring is incomplete
 * @throws SyntaxError if the bytes are not a netstring
 */
function decodeNetstring(buffer: Buffer, start: number): { body: Buffer; end: number } | undefined {
	let length = 0;
	let at = start;
	for (; at < buffer.length && buffer[at] !== COLON; at += 1) {
		const digit = (buffer[at] as number) - ZERO;
		if (digit < 0 || digit > 9 || at - start > 9) {
			throw new SyntaxError("not a netstring: expected its length");
		}
		length = length * 10 + digit;
	}
	const end = at + 1 + length;
	if (end >= buffer.length) {
		return undefined;
	}
	if (buffer[end] !== COMMA) {
		throw new SyntaxError("not a netstring: expected its end");
	}
	return { body: buffer.subarray(at + 1, end), end: end + 1 };
}

/** Finds the netstrings in a stream, in pieces of any size. */
class NetstringReader {
	#chunks: Buffer[] = [];
	#bytes = 0;
	/** Bytes needed before the next netstring can be complete: avoids parsing at each piece of a long one. */
	#needed = 0;

	/** @throws SyntaxError if the stream does not consist of netstrings */
	push(chunk: Buffer): Buffer[] {
		this.#chunks.push(chunk);
		this.#bytes += chunk.length;
		if (this.#bytes < this.#needed) {
			return [];
		}
		const buffer = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
		const bodies: Buffer[] = [];
		let at = 0;
		let next = decodeNetstring(buffer, at);
		while (next !== undefined) {
			bodies.push(next.body);
			at = next.end;
			next = decodeNetstring(buffer, at);
		}
		this.#keep(buffer.subarray(at));
		return bodies;
	}

	#keep(rest: Buffer): void {
		this.#chunks = rest.length > 0 ? [rest] : [];
		this.#bytes = rest.length;
		const colon = rest.indexOf(COLON);
		this.#needed = colon < 0 ? 0 : colon + 1 + Number(rest.subarray(0, colon).toString()) + 1;
	}
}
