// A device with a microphone, made with `ws` alone, and a service that turns speech into text.

import { createServer, type RequestListener } from "node:http";
import type { TestContext } from "node:test";
import { openOpusEncoder } from "xs-mcp/build/opus";
import { listen } from "../../../host-test/support/testing.js";
import { familyHello } from "./family.js";
import { WireDevice, type WireMessage } from "./gateway.js";
import type { StartedProgram } from "./program.js";

const ID = "aa:bb:cc:00:00:03";

/** Samples of a packet, and a second of them. */
const FRAME = 960;
const RATE = 16_000;

export interface ListeningDeviceOptions {
	readonly id?: string;
	/** Firmware of another maker, which knows no `listen` message: it listens after `tts` `stop`, or not at all. */
	readonly family?: "auto" | "manual";
	readonly tools?: readonly object[];
	readonly refuses?: string;
	/** Answers the call of a tool; undefined: later, by {@link ListeningDevice.answer}. */
	readonly onCall?: (id: number, name: string) => object | undefined;
}

export async function encode(samples: Int16Array): Promise<Uint8Array[]> {
	const encoder = await openOpusEncoder(RATE, 60);
	const packets: Uint8Array[] = [];
	for (let at = 0; at + FRAME <= samples.length; at += FRAME) {
		packets.push(Uint8Array.from(encoder.encode(samples.slice(at, at + FRAME))));
	}
	encoder.free();
	return packets;
}

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
	isListening = false;
	/** The packets of the next recording; `later` has those of the following ones. */
	packets: readonly Uint8Array[] = [];
	readonly later: (readonly Uint8Array[])[] = [];
	readonly #wire: WireDevice;
	readonly #options: ListeningDeviceOptions;

	private constructor(wire: WireDevice, options: ListeningDeviceOptions) {
		this.#wire = wire;
		this.#options = options;
	}

	static async connect(t: TestContext, side: StartedProgram, options: ListeningDeviceOptions = {}) {
		const { id = ID, family, tools = [], onCall } = options;
		const own = { features: { mcp: true, audio: true }, max_message_bytes: 8_192 };
		const wire = await WireDevice.connect(t, side, {
			id,
			tools,
			board: "radio",
			headers: { "protocol-version": "1" },
			hello: { ...familyHello("websocket"), ...(family === undefined && own) },
			...(onCall && { onCall: ({ id: call, name }) => onCall(call, name) }),
			onMessage: (message) => device.#receive(message),
		});
		const device: ListeningDevice = new ListeningDevice(wire, options);
		return device;
	}

	get calls(): string[] {
		return this.#wire.calls.map(({ name }) => name);
	}

	get cancelled(): number {
		return this.#wire.cancelled.length;
	}

	answer(id: number, result: object): void {
		this.#wire.answer(id, result);
	}

	listen(): void {
		this.isListening = true;
		this.#wire.say({ type: "listen", state: "start", mode: "auto" });
		const { packets } = this;
		this.packets = this.later.shift() ?? [];
		for (const packet of packets) {
			this.send(packet);
		}
	}

	stopListening(): void {
		if (this.isListening) {
			this.isListening = false;
			this.#wire.say({ type: "listen", state: "stop" });
		}
	}

	send(packet: Uint8Array): void {
		this.#wire.send(packet);
	}

	async unplug(): Promise<void> {
		await this.#wire.unplug();
	}

	#receive({ type, state, text }: WireMessage): void {
		const { family, refuses } = this.#options;
		this.heard.push([type, state, text].filter((each) => each !== undefined).join(" "));
		if (type === "tts") {
			this.isListening = false;
			if (state === "stop" && family === "auto") {
				this.listen();
			} else if (state === "stop" && family === undefined) {
				this.#wire.notify("notifications/state_changed", { newState: "idle", oldState: "speaking" });
			}
		} else if (type === "listen" && family === undefined) {
			if (state === "stop") {
				this.stopListening();
			} else if (refuses !== undefined) {
				this.#wire.say({ type: "listen", state: "stop", reason: refuses });
			} else {
				this.listen();
			}
		}
	}
}

export async function openRecognizer(t: TestContext, answer: RequestListener) {
	const server = createServer(answer);
	t.after(() => server.closeAllConnections());
	return { transcriptionUrl: `http://127.0.0.1:${await listen(t, server)}/v1`, transcriptionModel: "whisper" };
}
