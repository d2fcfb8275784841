import { StringDecoder } from "node:string_decoder";
import sax from "sax";

/** A machine's messages to its debugger, as far as a console needs them. */
export type XsbugMessage =
	/** The first message: the machine's name, and its engine, such as "XS 17.7.0 64-bit LE 32-bit ID". */
	| { readonly kind: "login"; readonly name: string; readonly engine: string }
	/** A piece of the trace, not always a line. Reports of the engine, such as exceptions, begin with the place in the source. */
	| { readonly kind: "log"; readonly text: string }
	/** The machine has stopped, and waits for a command. */
	| { readonly kind: "break"; readonly text: string };

/**
 * Reads xsbug's protocol, a stream of XML fragments that may be cut anywhere. Frames, variables, counters and
 * profiles are skipped.
 */
export class XsbugParser {
	readonly #decoder = new StringDecoder("utf8");
	readonly #parser = sax.parser(true, { position: false });
	readonly #onMessage: (message: XsbugMessage) => void;
	#text = "";
	/** The source position of a message, if known. */
	#place = "";

	constructor(onMessage: (message: XsbugMessage) => void) {
		this.#onMessage = onMessage;
		this.#parser.ontext = (text) => {
			this.#text += text;
		};
		this.#parser.onopentag = ({ name, attributes }) => this.#opened(name, attributes as Record<string, string>);
		this.#parser.onclosetag = (name) => this.#closed(name);
		this.#parser.onerror = (error) => {
			throw new Error(`not xsbug's protocol: ${error.message.split("\n")[0]}`);
		};
		// A document has one root: a stream of them is put into one that never ends.
		this.#parser.write("<stream>");
	}

	/** @throws Error when the bytes are not XML: nothing more can be read then */
	write(bytes: Buffer): void {
		this.#parser.write(this.#decoder.write(bytes));
	}

	#opened(name: string, attributes: Readonly<Record<string, string>>): void {
		const { name: label = "", value = "", path, line } = attributes;
		this.#text = "";
		this.#place = path === undefined ? "" : `${path}:${line} `;
		if (name === "login") {
			this.#onMessage({ kind: "login", name: label, engine: value });
		}
	}

	#closed(name: string): void {
		if (name === "log" || name === "break") {
			this.#onMessage({ kind: name, text: this.#place + this.#text });
		}
	}
}
