import { type Readable, Transform } from "node:stream";
import { jsonIn, MAX_MESSAGE_BYTES, readClientMessage } from "./received.js";

const LINE_FEED = 10;

/** Cuts a stream of bytes into lines. Not the SDK's ReadBuffer, which copies its whole contents with each piece. */
export class LineReader {
	/** Pieces of the incomplete line. */
	#pieces: Buffer[] = [];
	#bytes = 0;

	/**
	 * The lines that a piece of the stream completes, without their ends. The caller may stop before the last of them.
	 *
	 * @throws RangeError if a line is too long
	 */
	*linesOf(piece: Buffer): Generator<string> {
		let start = 0;
		for (let end = piece.indexOf(LINE_FEED); end !== -1; end = piece.indexOf(LINE_FEED, start)) {
			this.#append(piece.subarray(start, end));
			const line = Buffer.concat(this.#pieces).toString();
			this.#pieces = [];
			this.#bytes = 0;
			start = end + 1;
			yield line;
		}
		this.#append(piece.subarray(start));
	}

	#append(part: Buffer): void {
		this.#bytes += part.length;
		if (this.#bytes > MAX_MESSAGE_BYTES) {
			throw new RangeError(`message too large (limit ${MAX_MESSAGE_BYTES} bytes)`);
		}
		this.#pieces.push(part);
	}
}

/** A stream of a client's messages, a line each, that the SDK's transport can read: see {@link readClientMessage}. */
export function clientInput(input: Readable = process.stdin): Readable {
	const lines = new LineReader();
	const output = new Transform({
		transform(chunk: Buffer, _encoding, done) {
			try {
				for (const line of lines.linesOf(chunk)) {
					const message = jsonIn(line);
					this.push(`${message === undefined ? line : JSON.stringify(readClientMessage(message))}\n`);
				}
				done();
			} catch (error) {
				done(error as Error);
			}
		},
	});
	// The transport pauses it when it has closed. An input that is read on would keep the process alive.
	output.once("pause", () => {
		input.unpipe(output);
		input.pause();
	});
	return input.pipe(output);
}
