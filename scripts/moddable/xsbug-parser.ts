import { StringDecoder } from "node:string_decoder";
import sax from "sax";

/** A counter of a machine: its name, and what follows its value when it is written ("%", " bytes", " / "). */
export interface Instrument {
	readonly name: string;
	readonly unit: string;
}

/** A machine's messages to its debugger, as far as a console needs them. */
export type XsbugMessage =
	/** The first message: the machine's name, and its engine, such as "XS 17.7.0 64-bit LE 32-bit ID". */
	| { readonly kind: "login"; readonly name: string; readonly engine: string }
	/** A piece of the trace, which need not be a line; for what the engine reports, such as exceptions, with its place. */
	| { readonly kind: "log"; readonly text: string }
	/** The machine has stopped, and waits for a command. */
	| { readonly kind: "break"; readonly text: string }
	/** The counters in the following samples. */
	| { readonly kind: "instruments"; readonly instruments: readonly Instrument[] }
	/** The current values, in the order of the counters. */
	| { readonly kind: "samples"; readonly values: readonly number[] };

/**
 * Reads xsbug's protocol, a stream of XML fragments that may be cut anywhere. What a console does not need (frames,
 * variables, profiles) is skipped.
 */
export class XsbugParser {
	readonly #decoder = new StringDecoder("utf8");
	readonly #parser = sax.parser(true, { position: false });
	readonly #onMessage: (message: XsbugMessage) => void;
	#text = "";
	/** The source position of a message, if known. */
	#place = "";
	#instruments: Instrument[] = [];

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
		} else if (name === "instruments") {
			this.#instruments = [];
		} else if (name === "instrument") {
			this.#instruments.push({ name: label, unit: value });
		}
	}

	#closed(name: string): void {
		if (name === "log" || name === "break") {
			this.#onMessage({ kind: name, text: this.#place + this.#text });
		} else if (name === "instruments") {
			this.#onMessage({ kind: "instruments", instruments: this.#instruments });
		} else if (name === "samples") {
			this.#onMessage({ kind: "samples", values: this.#text.split(",").map(Number) });
		}
	}
}
