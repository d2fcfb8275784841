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
	const flags: [string, number | undefined][] = [
		["--slots", limits?.slots],
		["--chunk-bytes", limits?.chunkBytes],
		["--stack-slots", limits?.stackSlots],
		["--seed", seed],
		["--seconds", Math.ceil(timeoutMs / 1000) + ALARM_MARGIN_S],
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
	let lastWords: string | undefined;
	let failure: Error | undefined;
	child.stdout?.on(
		"data",
		fieldReader((body) => {
			if (body[0] === ENDED) {
				lastWords = body.toString("utf8", 1);
				return;
			}
			try {
				events.reply(decodePackets(body));
			} catch (error) {
				failure ??= error as Error;
				child.kill("SIGKILL");
			}
		}),
	);
	child.on("error", (error) => {
		failure = error;
	});
	// "close" rather than "exit": by then everything that the machine wrote has been read.
	child.on("close", (status, signal) => {
		events.ended(failure ? { code: "crashed", detail: failure.message } : toExit(status, signal, lastWords));
	});
}

// The other side of this, and its grammar: xs-host/host.c.

/** Bytes of a field's length, and the length of a field that is absent. */
const LENGTH_BYTES = 4;
const ABSENT = 0xffff_ffff;

/** The first byte of a machine's last reply: "!". */
const ENDED = 0x21;

/** The bytes for the host's standard input. @internal exported for the benchmark */
export function encodeCommand(command: Command): Buffer {
	switch (command.kind) {
		case "run":
			return encodeField(Buffer.from(`e${command.script}`));
		case "deliver": {
			const fields = command.packets.flatMap(({ header, bytes }) => [
				encodeField(Buffer.from(header)),
				encodeField(bytes),
			]);
			return encodeField(Buffer.concat([Buffer.from("d"), ...fields]));
		}
		case "heap":
			return encodeField(Buffer.from("m"));
	}
}

function encodeField(bytes: Uint8Array | undefined): Buffer {
	const length = Buffer.alloc(LENGTH_BYTES);
	length.writeUInt32LE(bytes?.byteLength ?? ABSENT);
	return bytes === undefined ? length : Buffer.concat([length, bytes]);
}

/** The messages of a reply, after its first byte. */
function decodePackets(body: Buffer): Packet[] {
	const packets: Packet[] = [];
	let at = 1;
	const next = (): Buffer | undefined => {
		const length = body.readUInt32LE(at);
		const start = at + LENGTH_BYTES;
		at = length === ABSENT ? start : start + length;
		return length === ABSENT ? undefined : body.subarray(start, at);
	};
	while (at < body.length) {
		const header = String(next());
		const bytes = next();
		// Copied, because the body is a view of the pipe's buffer.
		packets.push(bytes ? { header, bytes: new Uint8Array(bytes) } : { header });
	}
	return packets;
}

/** Finds the fields in a stream, in pieces of any size. */
function fieldReader(onField: (body: Buffer) => void): (chunk: Buffer) => void {
	let rest: Buffer = Buffer.alloc(0);
	return (chunk) => {
		rest = Buffer.concat([rest, chunk]);
		for (let size = sizeOf(rest); rest.length >= size; size = sizeOf(rest)) {
			onField(rest.subarray(LENGTH_BYTES, size));
			rest = rest.subarray(size);
		}
	};
}

/** Bytes of the first field with its length; of the length alone until that has arrived. */
function sizeOf(stream: Buffer): number {
	return LENGTH_BYTES + (stream.length < LENGTH_BYTES ? 0 : stream.readUInt32LE());
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
