// A device with a microphone, made with `ws` alone, and a service that turns speech into text.

import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { TestContext } from "node:test";
import { WebSocket } from "ws";
import { listen } from "../../../host-test/support/listen.js";
import { openOpusEncoder } from "../../../toolchain/opus.js";
import { familyHello } from "./family.js";
import type { StartedProgram } from "./program.js";

const ID = "aa:bb:cc:00:00:03";

/** Samples of a packet, and a second of them. */
const FRAME = 960;
const RATE = 16_000;

interface Message {
	readonly type: string;
	readonly state?: string;
	readonly text?: string;
	readonly payload?: { readonly id?: number; readonly method: string; readonly params?: { readonly name?: string } };
}

export interface ListeningDeviceOptions {
	readonly id?: string;
	/** Firmware of another maker, which knows no `listen` message: it listens after `tts` `stop`, or not at all. */
	readonly family?: "auto" | "manual";
	readonly tools?: readonly object[];
	/** The reason with which it refuses to listen. Default: it listens. */
	readonly refuses?: string;
	/** Answers the call of a tool; undefined: later, by {@link ListeningDevice.answer}. */
	readonly onCall?: (id: number, name: string) => object | undefined;
}

/** Encodes sounds as a device does. */
export async function encode(samples: Int16Array): Promise<Uint8Array[]> {
	const encoder = await openOpusEncoder(RATE, 60);
	const packets: Uint8Array[] = [];
	for (let at = 0; at + FRAME <= samples.length; at += FRAME) {
		packets.push(Uint8Array.from(encoder.encode(samples.slice(at, at + FRAME))));
	}
	encoder.free();
	return packets;
}

/** The given seconds of speech and three of silence, with a little noise. */
export function speech(seconds: number): Int16Array {
	return Int16Array.from({ length: RATE * (seconds + 3.5) }, (_, at) => {
		const isSpeech = at >= RATE / 2 && at < RATE * (seconds + 0.5);
		// Syllables: a tone that comes and goes.
		const voice = isSpeech
			? 8_000 * Math.sin((2 * Math.PI * 440 * at) / RATE) * Math.abs(Math.sin((9 * at) / RATE))
			: 0;
		return voice + 20 * Math.sin(at * at);
	});
}

export class ListeningDevice {
	/** The gateway's messages besides MCP: "listen start", "tts stop", "stt good morning". */
	readonly heard: string[] = [];
	/** The tools that were called. */
	readonly calls: string[] = [];
	/** Calls that were cancelled. */
	cancelled = 0;
	isListening = false;
	/** The packets of the next recording; `later` has those of the following ones. */
	packets: readonly Uint8Array[] = [];
	readonly later: (readonly Uint8Array[])[] = [];
	readonly #socket: WebSocket;
	readonly #options: ListeningDeviceOptions;

	private constructor(socket: WebSocket, options: ListeningDeviceOptions) {
		this.#socket = socket;
		this.#options = options;
		socket.on("message", (data: Buffer, isBinary) => {
			if (!isBinary) {
				this.#receive(JSON.parse(data.toString()));
			}
		});
	}

	static async connect(t: TestContext, side: StartedProgram, options: ListeningDeviceOptions = {}) {
		const { id = ID, family } = options;
		const headers = { "device-id": id, "client-id": `uuid-${id}`, "protocol-version": "1" };
		const socket = new WebSocket(side.deviceUrl, { headers });
		t.after(() => socket.terminate());
		const device = new ListeningDevice(socket, options);
		await once(socket, "open");
		const online = once(side.gateway.servers, "online");
		const own = { features: { mcp: true, audio: true }, max_message_bytes: 8_192 };
		device.say({ ...familyHello("websocket"), ...(family === undefined && own) });
		await online;
		return device;
	}

	/** Says something in the way that most firmware does: without a session id. */
	say(message: object): void {
		this.#socket.send(JSON.stringify({ session_id: "", ...message }));
	}

	notify(method: string, params: object): void {
		this.say({ type: "mcp", payload: { jsonrpc: "2.0", method, params } });
	}

	answer(id: number, result: object): void {
		this.say({ type: "mcp", payload: { jsonrpc: "2.0", id, result } });
	}

	/** Begins to listen, as by a press. */
	listen(): void {
		this.isListening = true;
		this.say({ type: "listen", state: "start", mode: "auto" });
		const { packets } = this;
		this.packets = this.later.shift() ?? [];
		for (const packet of packets) {
			this.#socket.send(packet);
		}
	}

	stopListening(): void {
		if (this.isListening) {
			this.isListening = false;
			this.say({ type: "listen", state: "stop" });
		}
	}

	send(packet: Uint8Array): void {
		this.#socket.send(packet);
	}

	unplug(): void {
		this.#socket.terminate();
	}

	#receive({ type, state, text, payload }: Message): void {
		const { family, refuses } = this.#options;
		if (type === "hello") {
			return;
		}
		if (type === "mcp") {
			this.#serve(payload as NonNullable<Message["payload"]>);
			return;
		}
		this.heard.push([type, state, text].filter((each) => each !== undefined).join(" "));
		if (type === "tts") {
			this.isListening = false;
			if (state === "stop" && family === "auto") {
				this.listen();
			} else if (state === "stop" && family === undefined) {
				this.notify("notifications/state_changed", { newState: "idle", oldState: "speaking" });
			}
		} else if (type === "listen" && family === undefined) {
			if (state === "stop") {
				this.stopListening();
			} else if (refuses !== undefined) {
				this.say({ type: "listen", state: "stop", reason: refuses });
			} else {
				this.listen();
			}
		}
	}

	#serve({ id, method, params }: NonNullable<Message["payload"]>): void {
		const { tools = [], onCall = () => ({ content: [{ type: "text", text: "true" }], isError: false }) } =
			this.#options;
		if (method === "notifications/cancelled") {
			this.cancelled += 1;
		} else if (id === undefined) {
			return;
		} else if (method === "initialize") {
			const serverInfo = { name: "radio", version: "1.0.0" };
			this.answer(id, { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo });
		} else if (method === "tools/list") {
			this.answer(id, { tools });
		} else if (method === "tools/call") {
			this.calls.push(params?.name ?? "");
			const result = onCall(id, params?.name ?? "");
			if (result !== undefined) {
				this.answer(id, result);
			}
		}
	}
}

/** A service with OpenAI's transcription API. */
export async function openRecognizer(t: TestContext, answer: RequestListener) {
	const server = createServer(answer);
	t.after(() => server.closeAllConnections());
	return { transcriptionUrl: `http://127.0.0.1:${await listen(t, server)}/v1`, transcriptionModel: "whisper" };
}
