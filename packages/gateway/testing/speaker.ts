import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Client } from "@modelcontextprotocol/client";
import { readWav } from "../src/speech/wav.js";
import { SET_VOLUME, STATUS, type WireCall, WireDevice, type WireDeviceOptions } from "./gateway.js";
import { type StartedProgram, startProgram } from "./program.js";
import { VOICE } from "./voice.js";

export const PLAY = {
	name: "self.audio_speaker.play",
	inputSchema: { type: "object", properties: { url: { type: "string" } }, required: ["url"] },
};
export const done = (text: string) => ({ content: [{ type: "text", text }], isError: false });

export class Speaker {
	readonly heard: string[] = [];
	isSlow = false;
	readonly device: WireDevice;

	private constructor(device: WireDevice) {
		this.device = device;
	}

	static async connect(t: TestContext, side: StartedProgram, options: WireDeviceOptions = {}): Promise<Speaker> {
		const onCall = (call: WireCall) => {
			if (call.name === PLAY.name) {
				void self.#play(call);
				return undefined;
			}
			return done(call.name === STATUS.name ? '{"audio_speaker":{"volume":40}}' : "true");
		};
		const tools = [PLAY, SET_VOLUME, STATUS];
		const self: Speaker = new Speaker(await WireDevice.connect(t, side, { tools, onCall, ...options }));
		return self;
	}

	get calls(): string[] {
		return this.device.calls.map(({ name, arguments: { url: _, ...args } }) => `${name} ${JSON.stringify(args)}`);
	}

	end(call: WireCall | undefined): void {
		assert(call);
		this.device.answer(call.id, done("true"));
	}

	async #play(call: WireCall): Promise<void> {
		const response = await fetch(call.arguments.url as string);
		assert.equal(response.headers.get("content-type"), "audio/wav");
		const { samples } = readWav(Buffer.from(await response.arrayBuffer()));
		const letters = Array.from({ length: samples.length / 2 }, (_, at) => samples.readUInt16LE(2 * at));
		this.heard.push(String.fromCodePoint(...letters));
		if (!this.isSlow) {
			this.end(call);
		}
	}
}

type Result = { text: string; isError: boolean; results: { device: string; outcome: string; reason?: string }[] };

export async function say(client: Client, args: object, signal?: AbortSignal): Promise<Result> {
	const options = signal === undefined ? {} : { signal };
	const result = await client.callTool({ name: "say", arguments: { devices: ["all"], ...args } }, options);
	const [block] = result.content as { text: string }[];
	return {
		text: block?.text ?? "",
		isError: result.isError === true,
		results: (result.structuredContent as Result)?.results,
	};
}

/** A gateway whose voice is a program: the letters of a text are the samples of its sound. */
export const startSpeaking = (t: TestContext, settings: Parameters<typeof startProgram>[1] = {}) =>
	startProgram(t, { speechCommand: VOICE, ...settings });
