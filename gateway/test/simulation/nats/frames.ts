/** A command of a client, in the NATS client protocol. */
export type ClientFrame =
	| { readonly kind: "connect"; readonly options: Readonly<Record<string, unknown>> }
	| { readonly kind: "ping" | "pong" }
	| { readonly kind: "sub"; readonly subject: string; readonly sid: string }
	| { readonly kind: "unsub"; readonly sid: string; readonly max: number | undefined }
	| ({ readonly kind: "pub" } & Published);

/** A message that a client has published. */
export interface Published {
	readonly subject: string;
	readonly reply: string;
	/** With its first line and the empty line at its end; empty without headers. */
	readonly headers: Buffer;
	readonly data: Buffer;
}

const CRLF = "\r\n";

/** Reads the commands of a client from pieces of its stream. */
export class FrameReader {
	#rest: Buffer = Buffer.alloc(0);

	read(bytes: Uint8Array): ClientFrame[] {
		this.#rest = this.#rest.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#rest, bytes]);
		const frames: ClientFrame[] = [];
		for (let frame = this.#next(); frame !== undefined; frame = this.#next()) {
			frames.push(frame);
		}
		return frames;
	}

	#next(): ClientFrame | undefined {
		const end = this.#rest.indexOf(CRLF);
		if (end < 0) {
			return undefined;
		}
		const line = this.#rest.toString("latin1", 0, end);
		const [word = "", ...args] = line.split(/\s+/);
		const after = end + CRLF.length;
		const verb = word.toUpperCase();
		if (verb === "PUB" || verb === "HPUB") {
			return this.#published(verb === "HPUB", args, after);
		}
		this.#rest = this.#rest.subarray(after);
		switch (verb) {
			case "CONNECT":
				return { kind: "connect", options: JSON.parse(line.slice(word.length)) };
			case "PING":
				return { kind: "ping" };
			case "PONG":
				return { kind: "pong" };
			case "SUB":
				return { kind: "sub", subject: args[0] as string, sid: args.at(-1) as string };
			case "UNSUB":
				return { kind: "unsub", sid: args[0] as string, max: args[1] === undefined ? undefined : Number(args[1]) };
			default:
				throw new Error(`unknown command of a NATS client: ${line}`);
		}
	}

	#published(hasHeaders: boolean, args: readonly string[], after: number): ClientFrame | undefined {
		const size = Number(args.at(-1));
		const headerSize = hasHeaders ? Number(args.at(-2)) : 0;
		if (this.#rest.length < after + size + CRLF.length) {
			return undefined;
		}
		const names = args.slice(0, hasHeaders ? -2 : -1);
		const body = Buffer.from(this.#rest.subarray(after, after + size));
		this.#rest = this.#rest.subarray(after + size + CRLF.length);
		const [subject = "", reply = ""] = names;
		return { kind: "pub", subject, reply, headers: body.subarray(0, headerSize), data: body.subarray(headerSize) };
	}
}

/** MSG or HMSG: a message for a subscription. */
export function messageFrame(sid: string, { subject, reply, headers, data }: Published): Buffer {
	const names = `${subject} ${sid}${reply === "" ? "" : ` ${reply}`}`;
	const sizes = headers.length === 0 ? `${data.length}` : `${headers.length} ${headers.length + data.length}`;
	const head = `${headers.length === 0 ? "MSG" : "HMSG"} ${names} ${sizes}${CRLF}`;
	return Buffer.concat([Buffer.from(head), headers, data, Buffer.from(CRLF)]);
}

/** Headers with a status: "NATS/1.0 503". */
export function statusHeaders(status: string, fields: Readonly<Record<string, string | number>> = {}): Buffer {
	const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}${CRLF}`);
	return Buffer.from(`NATS/1.0${status === "" ? "" : ` ${status}`}${CRLF}${lines.join("")}${CRLF}`);
}

/** The fields of a message's headers. */
export function fieldsOf(headers: Buffer): ReadonlyMap<string, string> {
	const lines = headers.toString().split(CRLF).slice(1);
	return new Map(
		lines.flatMap((line) => {
			const colon = line.indexOf(":");
			return colon < 0 ? [] : [[line.slice(0, colon), line.slice(colon + 1).trim()] as const];
		}),
	);
}

/** Whether a subject matches a pattern with `*` and `>`. */
export function subjectMatches(pattern: string, subject: string): boolean {
	if (pattern === subject || pattern === ">") {
		return true;
	}
	const wildcard = pattern.search(/[*>]/);
	// Most patterns have their wildcard at the end.
	if (wildcard === pattern.length - 1) {
		const isPart = subject.length > wildcard && subject.startsWith(pattern.slice(0, wildcard));
		return isPart && (pattern.endsWith(">") || !subject.includes(".", wildcard));
	}
	return wildcard >= 0 && tokensMatch(pattern.split("."), subject.split("."));
}

function tokensMatch(wanted: readonly string[], tokens: readonly string[]): boolean {
	for (const [i, part] of wanted.entries()) {
		if (part === ">") {
			return tokens.length > i;
		}
		if (tokens[i] === undefined || (part !== "*" && part !== tokens[i])) {
			return false;
		}
	}
	return tokens.length === wanted.length;
}
