import { randomUUID } from "node:crypto";
import { isServerErrorCode, type PendingRequest, ServerError } from "xs-mcp-manager/core";
import { type Bus, hasNoResponder, partOf } from "./bus.js";
import { type Call, readMessage, replySchema, VERSION } from "./messages.js";

/** Bytes of an answer, which comes in parts. */
const MAX_ANSWER = 64 * 1024 * 1024;

/** A device, as calls to it use it. */
export interface CallTarget {
	readonly gateway: string;
	readonly device: string;
	readonly claim: string;
}

interface Outgoing {
	readonly target: CallTarget;
	readonly request: PendingRequest;
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
	begin(target: CallTarget, request: PendingRequest): string {
		const bus = this.#bus();
		if (!bus.connected) {
			throw new ServerError("server-offline", "the connection to the cluster is lost. Nothing was sent to the device.");
		}
		const { gateway, device, claim } = target;
		const { method, params = {} } = request.message;
		const call: Call = { v: VERSION, device, claim, method, params };
		const bytes = Buffer.byteLength(JSON.stringify(call));
		if (bytes > bus.maxBytes) {
			throw new ServerError("invalid-arguments", `request too large: ${bytes} bytes (limit ${bus.maxBytes})`);
		}
		this.#count += 1;
		const id = `${this.#prefix}-${this.#count}`;
		this.#calls.set(id, { target, request, parts: [], bytes: 0 });
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

	/** Drops a call whose connection has ended. */
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
		const reply = bytes && readMessage(replySchema, bytes);
		if (reply?.progress !== undefined) {
			const { request } = call;
			request.connection.notified("notifications/progress", { ...reply.progress, progressToken: request.id });
			request.progressed(reply.progress);
			return;
		}
		this.#calls.delete(id);
		if (bytes === undefined) {
			const gone = `gateway ${call.target.gateway}, which has the device, is gone. Nothing was sent to the device.`;
			call.request.fail(new ServerError("server-offline", gone));
		} else if (reply?.result !== undefined || reply?.error !== undefined) {
			call.request.answered(reply);
		} else {
			const { code, message: text = "the other gateway's answer cannot be read" } = reply?.failed ?? {};
			call.request.fail(new ServerError(isServerErrorCode(code) ? code : "invalid-result", text));
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
