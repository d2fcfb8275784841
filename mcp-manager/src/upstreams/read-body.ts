import { isMessageLike, readMessage } from "../core/received.js";

type BodyTransform = TransformStream<Uint8Array, Uint8Array>;

/** Makes the JSON-RPC messages of a body valid: see {@link readMessage}. Another body of JSON stays as it is. */
export function readWhole(): BodyTransform {
	return textTransform((pieces, isLast) => (isLast ? { done: readJson(pieces.join("")), rest: [] } : undefined));
}

/** The same for the events of a stream, each when it is complete. */
export function readEvents(): BodyTransform {
	return textTransform((pieces, isLast) => {
		// The boundary may be in several pieces. The earlier ones were searched before.
		const last = pieces.at(-1) ?? "";
		const before = pieces.slice(-MAX_BOUNDARY, -1).join("").slice(-MAX_BOUNDARY);
		if (!isLast && (before + last).search(BOUNDARY) < 0) {
			return undefined;
		}
		const text = pieces.join("");
		let end = 0;
		const events: string[] = [];
		for (const { index, 0: boundary } of text.matchAll(BOUNDARY)) {
			events.push(readEvent(text.slice(end, index)));
			end = index + boundary.length;
		}
		const rest = text.slice(end);
		return isLast ? { done: events.join("") + rest, rest: [] } : { done: events.join(""), rest: [rest] };
	});
}

/** The end of a line, and an empty line. */
const BOUNDARY = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r)/g;

/** Characters of the longest boundary. */
const MAX_BOUNDARY = 4;

const DATA = /^data: ?/;

function readEvent(event: string): string {
	const lines = event.split(/\r\n|\n|\r/);
	const data = lines.filter((line) => DATA.test(line)).map((line) => line.replace(DATA, ""));
	const others = lines.filter((line) => !DATA.test(line));
	return [...others, ...(data.length === 0 ? [] : [`data: ${readJson(data.join("\n"))}`]), "", ""].join("\n");
}

/** The text of valid messages; another text stays as it is. */
function readJson(text: string): string {
	try {
		const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
		const isBatch = Array.isArray(value) && value.every(isMessageLike);
		return isBatch || isMessageLike(value)
			? JSON.stringify(isBatch ? value.map(readMessage) : readMessage(value))
			: text;
	} catch {
		return text;
	}
}

/** @param read returns the text to pass on, and what waits for more; undefined if all of it waits */
function textTransform(
	read: (pieces: readonly string[], isLast: boolean) => { readonly done: string; readonly rest: string[] } | undefined,
): BodyTransform {
	const decoder = new TextDecoder();
	const encoder = new TextEncoder();
	let pieces: string[] = [];
	const pass = (more: string, isLast: boolean, controller: TransformStreamDefaultController<Uint8Array>): void => {
		pieces.push(more);
		const { done, rest } = read(pieces, isLast) ?? { done: "", rest: pieces };
		pieces = rest;
		if (done !== "") {
			controller.enqueue(encoder.encode(done));
		}
	};
	return new TransformStream({
		transform: (chunk, controller) => pass(decoder.decode(chunk, { stream: true }), false, controller),
		flush: (controller) => pass(decoder.decode(), true, controller),
	});
}
