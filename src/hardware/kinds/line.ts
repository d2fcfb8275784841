import { definePartKind, type NamedPart } from "./part-kind.js";

/** A serial line to another device, which sends and receives lines of text. */
export interface SerialLine extends NamedPart {
	/** The line that arrived last; undefined before. */
	readonly last: string | undefined;
	/**
	 * Sends a line.
	 *
	 * @param text without its end
	 * @throws Error if it is too long, not one line, or too soon after the previous one
	 */
	send(text: string): void;
	/** Called when a line has arrived, at a limited rate. */
	onLine: ((text: string) => void) | undefined;
}

export const line = definePartKind<SerialLine>()({
	name: "line",
	plural: "lines",
	words: "serial lines",
	status: [{ name: "last", type: "string", isOptional: true }],
	tool: { name: "self.line.send", part: "name" },
	event: { name: "line.received", by: "onLine", data: [{ name: "text", type: "string", at: 0 }] },
});
