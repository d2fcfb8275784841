/** Events that a session keeps, and their characters in all. */
const MAX_EVENTS = 64;
const MAX_CHARACTERS = 64 * 1024;

/** Places an event: in its stream, and among all events of the session. */
export interface EventId {
	readonly stream: number;
	readonly number: number;
}

/**
 * The last server-sent events of a session, for a client that has lost its connection: MCP "Resumability and Redelivery".
 * Events of all streams share the limits; the oldest go first.
 */
export class EventLog {
	readonly #events: (EventId & { readonly text: string })[] = [];
	#characters = 0;
	/** Above what an earlier process has given: its clients resume here. */
	#last = Date.now();

	/** The number of the last event. */
	get last(): number {
		return this.#last;
	}

	/** The text of an event without a message, from whose id a client may resume: it gets every later one. */
	empty(stream: number): string {
		return `id: ${stream}-${this.#last}\ndata: \n\n`;
	}

	/** Keeps the JSON of a message. Returns the text of its event. */
	add(stream: number, json: string): string {
		this.#last += 1;
		const text = `id: ${stream}-${this.#last}\n${eventOf(json)}`;
		this.#events.push({ stream, number: this.#last, text });
		this.#characters += text.length;
		while (this.#events.length > MAX_EVENTS || this.#characters > MAX_CHARACTERS) {
			this.#characters -= this.#events.shift()?.text.length ?? 0;
		}
		return text;
	}

	/** The texts of a stream's events after one, as far as they are kept. */
	after({ stream, number }: EventId): string {
		return this.#events
			.flatMap((event) => (event.stream === stream && event.number > number ? [event.text] : []))
			.join("");
	}
}

/** The text of an event that is not kept, with the JSON of a message. */
export function eventOf(json: string): string {
	return `event: message\ndata: ${json}\n\n`;
}

/** Reads a `Last-Event-ID`; undefined if no {@link EventLog} has made it. */
export function readEventId(text: string): EventId | undefined {
	const [, stream, number] = /^(\d{1,15})-(\d{1,15})$/.exec(text) ?? [];
	return number === undefined ? undefined : { stream: Number(stream), number: Number(number) };
}
