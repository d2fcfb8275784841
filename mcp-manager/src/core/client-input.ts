import { type Readable, Transform } from "node:stream";
import { LineReader } from "./line-reader.js";
import { jsonIn, readClientMessage } from "./received.js";

/** Bytes of a client's message. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

/** A stream of a client's messages, a line each, that the SDK's transport can read: see {@link readClientMessage}. */
export function clientInput(input: Readable = process.stdin): Readable {
	const lines = new LineReader(MAX_MESSAGE_BYTES);
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
