import type { CommandQueue, Packet } from "./command-queue.js";
import type { Engine, EngineExit, HeapReport, Message } from "./engine.js";
import { EngineError } from "./engine-error.js";

/** An engine over a queue of commands: turns messages into packets and back. */
export class QueuedEngine implements Engine {
	readonly name: string;
	readonly #queue: CommandQueue;

	constructor(name: string, queue: CommandQueue) {
		this.name = name;
		this.#queue = queue;
	}

	get exited(): Promise<EngineExit> {
		return this.#queue.exited;
	}

	async run(script: string): Promise<Message[]> {
		return toMessages(await this.#queue.request({ kind: "run", script }));
	}

	async deliver(messages: readonly Message[]): Promise<Message[]> {
		return toMessages(await this.#queue.request({ kind: "deliver", packets: messages.map(toPacket) }));
	}

	async heap(): Promise<HeapReport | undefined> {
		const [report] = toMessages(await this.#queue.request({ kind: "heap" }));
		if (!report) {
			return undefined;
		}
		const [slots, peakSlots, chunkBytes, peakChunkBytes, peakStackSlots, slotBytes, collections] =
			report.header.map(Number);
		return {
			slots: slots ?? 0,
			peakSlots: peakSlots ?? 0,
			chunkBytes: chunkBytes ?? 0,
			peakChunkBytes: peakChunkBytes ?? 0,
			peakStackSlots: peakStackSlots ?? 0,
			slotBytes: slotBytes ?? 0,
			collections: collections ?? 0,
		};
	}

	close(): void {
		this.#queue.close();
	}
}

function toPacket({ header, bytes }: Message): Packet {
	const json = JSON.stringify(header);
	return bytes ? { header: json, bytes } : { header: json };
}

function toMessages(packets: readonly Packet[]): Message[] {
	return packets.map(({ header, bytes }) => (bytes ? { header: parse(header), bytes } : { header: parse(header) }));
}

function parse(json: string): unknown[] {
	try {
		const header: unknown = JSON.parse(json);
		if (Array.isArray(header)) {
			return header;
		}
	} catch (cause) {
		throw new EngineError("invalid-header", `The script posted a header that is not JSON: ${json}`, { cause });
	}
	throw new EngineError("invalid-header", `The script posted a header that is not an array: ${json}`);
}
