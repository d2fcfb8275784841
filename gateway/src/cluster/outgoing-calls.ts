import { randomUUID } from "node:crypto";
import { ServerError } from "xs-mcp-manager/core";
import { type Bus, hasNoResponder, partOf } from "./bus.js";
import { type Call, type Reply, readMessage, replySchema, VERSION } from "./messages.js";

/** Bytes of an answer, which comes in parts. */
const MAX_ANSWER = 64 * 1024 * 1024;

/** A device, as calls to it use it. */
export interface CallTarget {
	readonly gateway: string;
	readonly device: string;
	readonly claim: string;
}

/** The events of a call. `answer` is the last. */
export interface CallListener {
	readonly progress: (params: Readonly<Record<string, unknown>>) => void;
	/** The result, the device's JSON-RPC error, or a ServerError. */
	readonly answer: (answer: Reply) => void;
}

interface Outgoing {
	readonly target: CallTarget;
	readonly listener: CallListener;
	/** Of an answer that is not complete yet. */
	readonly parts: Buffer[];
	bytes: number;
}

/** Calls to devices of other gateways. */
export class OutgoingCalls {
	readonly #bus: () => Bus;
	readonly #name: string;
	readonly #calls = new Map<string, Outgoing>();
	/** Calls of an earlier process with this gateway's name have other ids. */
	readonly #prefix = randomUUID();
	#count = 0;

	constructor(name: string, bus: () => Bus) {
		this.#name = name;
		this.#bus = bus;
	}

	/** The gateways that have calls in progress. */
	get gateways(): ReadonlySet<string> {
		return new Set([...this.#calls.values()].map(({ target }) => target.gateway));
	}

	/**
	 * Sends a call.
	 *
	 * @returns its id
	 * @throws ServerError if nothing was sent
	 */
	begin(target: CallTarget, request: Pick<Call, "method" | "params">, listener: CallListener): string {
		const bus = this.#bus();
		if (!bus.connected) {
			throw new ServerError("server-offline", "the connection to the cluster is lost. Nothing was sent to the device.");
		}
		const { gateway, device, claim } = target;
		const call: Call = { v: VERSION, device, claim, ...request };
		const bytes = Buffer.byteLength(JSON.stringify(call));
		if (bytes > bus.maxBytes) {
			throw new ServerError("invalid-arguments", `request too large: ${bytes} bytes (limit ${bus.maxBytes})`);
		}
		this.#count += 1;
		const id = `${this.#prefix}-${this.#count}`;
		this.#calls.set(id, { target, listener, parts: [], bytes: 0 });
		bus.publish(bus.subjects.call(gateway), call, bus.subjects.reply(this.#name, id));
		return id;
	}

	/** The client no longer waits. The answer is dropped. */
	cancel(id: string): void {
		const call = this.#calls.get(id);
		this.#calls.delete(id);
		const bus = this.#bus();
		if (call !== undefined && bus.connected) {
			const reply = bus.subjects.reply(this.#name, id);
			bus.publish(bus.subjects.cancel(call.target.gateway), { v: VERSION, reply });
		}
	}

	/** Drops a call whose transport has ended. */
	forget(id: string): void {
		this.#calls.delete(id);
	}

	/** Reads a part of an answer. */
	received(id: string, message: Parameters<typeof partOf>[0]): void {
		const call = this.#calls.get(id);
		if (call === undefined) {
			return;
		}
		const bytes = hasNoResponder(message) ? undefined : assemble(call, message);
		if (bytes === "partial") {
			return;
		}
		const gone = `gateway ${call.target.gateway}, which has the device, is gone. Nothing was sent to the device.`;
		const unreadable = { failed: { code: "invalid-result", message: "the other gateway's answer cannot be read" } };
		const reply: Reply =
			bytes === undefined
				? { failed: { code: "server-offline", message: gone } }
				: (readMessage(replySchema, bytes) ?? unreadable);
		if (reply.progress === undefined) {
			this.#calls.delete(id);
			call.listener.answer(reply);
		} else {
			call.listener.progress(reply.progress);
		}
	}
}

/** The bytes of a message with those of its earlier parts. */
function assemble(call: Outgoing, message: Parameters<typeof partOf>[0]): Uint8Array | "partial" {
	const { part, parts } = partOf(message) ?? { part: 1, parts: 1 };
	if (parts === 1) {
		return message.data;
	}
	call.bytes += message.data.length;
	if (part !== call.parts.length + 1 || call.bytes > MAX_ANSWER) {
		return Buffer.from("");
	}
	call.parts.push(Buffer.from(message.data));
	return part === parts ? Buffer.concat(call.parts.splice(0)) : "partial";
}
