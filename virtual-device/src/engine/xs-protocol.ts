import type { EngineExit, EngineExitCode } from "./engine.js";
import { decodeNetstring, encodeNetstring } from "./netstring.js";
import type { Command, Packet } from "./queued-engine.js";

// The other side of this, and its grammar: xs-host/host.c.

/** A body from the host: posted messages, or its final error. */
type Reply = { readonly packets: Packet[] } | { readonly ended: string };

const NO_BYTES = Buffer.alloc(0);
const RUN = Buffer.from("e");
const DELIVER = Buffer.from("d");
const HEAP = Buffer.from("m");
const HEADER_ONLY = Buffer.from("h");
const WITH_BYTES = Buffer.from("b");

/** The bytes for the host's standard input. `hello` has none: its answer arrives by itself. */
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
export function decodeReply(body: Buffer): Reply {
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
		// A copy of the bytes, as the body is a view of what was read from the pipe.
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
export function toExit(status: number | null, signal: string | null, lastWords: string | undefined): EngineExit {
	// The host's own alarm, which ends an unattended loop.
	if (signal === "SIGALRM") {
		return { code: "unresponsive", detail: "ended by its own alarm" };
	}
	const how = signal ? `ended by ${signal}` : `ended with status ${status}`;
	return { code: EXIT_CODES.get(status ?? -1) ?? "crashed", detail: lastWords ?? how };
}
