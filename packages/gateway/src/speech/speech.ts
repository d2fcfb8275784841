import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { Hono } from "hono";
import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import { openOpusEncoder } from "xs-mcp/build/opus";
import { SPOKEN_AUDIO } from "../devices/device-connection.js";
import { GatewayError } from "../gateway-error.js";
import { fairLimit } from "../http/fair-share.js";
import { allow, type HttpEnv } from "../http/route.js";
import type { Caller } from "./device-tools.js";
import { encodeOgg } from "./spoken-stream.js";
import { inTime, type Voice } from "./voice.js";
import { encodeWav, makeResampler, readWav, type Sound } from "./wav.js";

/** Milliseconds in which a voice must have spoken a text. */
const VOICE_TIME = 30_000;

/** Texts that are spoken at the same time, in all and for one client; each may be a program. */
const MAX_VOICES = { all: 6, perOwner: 2 };

/** Bytes of sounds that are kept for the next time. */
const MAX_KEPT = 33_554_432;

const SPEECH_PATH = "/speech";

/** Texts as sound: what was spoken is kept, and devices get it at a URL that nobody can guess. */
export type Speech = ReturnType<typeof makeSpeech>;

/** A text as sound, which is spoken when the first device wants it, once for all. Rejects with an Error that says why it cannot be. */
export type SpokenText = ReturnType<Speech["text"]>;

/** Makes the speech of a voice. */
export function makeSpeech(voice: Voice) {
	const limit = fairLimit(MAX_VOICES);
	/** Turns of the encoders in the event loop. */
	const turns = pLimit(1);
	const sounds = new LRUCache<string, Sound>({
		maxSize: MAX_KEPT,
		sizeCalculation: ({ samples }) => Math.max(1, samples.byteLength),
	});
	/** Files by id, while devices may load them. */
	const files = new Map<string, Buffer>();
	return {
		/** Says a text, once a device wants it. An urgent one does not wait for others. */
		text(text: string, { principal, signal }: Caller, isUrgent = false) {
			const id = randomBytes(16).toString("hex");
			const serve = (name: string, file: Buffer): string => {
				files.set(name, file);
				return `${SPEECH_PATH}/${name}`;
			};
			const sound = once(async () => {
				const speak = async (either: AbortSignal): Promise<Sound> => readWav(await voice(text, either));
				const spoken = () => inTime("cannot speak", "sound", VOICE_TIME, signal, speak);
				const sound = sounds.get(text) ?? (await limit(principal, spoken, isUrgent));
				sounds.set(text, sound);
				return sound;
			});
			let shared: Promise<SharedPackets> | undefined;
			const packets = (): Promise<SharedPackets> => {
				shared ??= sound().then((each) => sharePackets(each, turns));
				return shared;
			};
			return {
				/** Path of a WAV file, until `withdraw` is called. */
				path: once(async () => serve(`${id}.wav`, encodeWav(await sound()))),
				/** Packets of Opus, until `withdraw` is called. */
				packets,
				/** Path of a file of Ogg Opus, until `withdraw` is called, and its duration in milliseconds. */
				opusFile: once(async () => {
					const all: Uint8Array[] = [];
					for await (const packet of await packets()) {
						all.push(packet);
					}
					const { sample_rate: rate, frame_duration: frame } = SPOKEN_AUDIO;
					return { path: serve(`${id}.ogg`, encodeOgg(all, rate, frame)), duration: all.length * frame };
				}),
				withdraw: () => {
					files.delete(`${id}.wav`);
					files.delete(`${id}.ogg`);
					shared?.then(({ close }) => close()).catch(() => {});
				},
			};
		},
		/** A file that is served; undefined for an unknown id. */
		find: (id: string) => files.get(id),
	};
}

/** Does something when it is wanted first, and has the same result from then on. */
function once<Result>(run: () => Promise<Result>): () => Promise<Result> {
	let result: Promise<Result> | undefined;
	return () => {
		result ??= run();
		return result;
	};
}

/** Serves sounds to devices. A file's id is the permission to get it, as long as it is served. */
export function addSpeechRoutes(app: Hono<HttpEnv>, speech: Speech): void {
	app.all(`${SPEECH_PATH}/:id`, allow("GET"), (c) => {
		const id = c.req.param("id");
		const file = speech.find(id);
		if (file === undefined) {
			throw new GatewayError("not-found", "not found");
		}
		return c.body(new Uint8Array(file), 200, { "Content-Type": id.endsWith(".ogg") ? "audio/ogg" : "audio/wav" });
	});
}

const RATE = SPOKEN_AUDIO.sample_rate;

const FRAME = (RATE * SPOKEN_AUDIO.frame_duration) / 1_000;

/** Packets of a sound for several readers: each is encoded once, when the first reader wants it. */
type SharedPackets = Awaited<ReturnType<typeof sharePackets>>;

/**
 * Encodes a sound as packets of {@link SPOKEN_AUDIO}; silence fills the last one. Resolves when the first is encoded. Rejects
 * with an Error if the encoder is not installed.
 *
 * @param turns limits all sounds together to one packet in a turn of the event loop
 * @internal exported for its test
 */
export async function sharePackets({ sampleRate, samples }: Sound, turns = pLimit(1)) {
	const encoder = await openOpusEncoder(RATE, SPOKEN_AUDIO.frame_duration);
	const aligned = new Int16Array(Uint8Array.from(samples).buffer);
	const resampler = makeResampler(aligned, sampleRate, RATE);
	const packets: Promise<Uint8Array | undefined>[] = [];
	let isOpen = true;
	const encode = async (at: number): Promise<Uint8Array | undefined> => {
		if (!isOpen) {
			return undefined;
		}
		const frame = new Int16Array(FRAME);
		frame.set(resampler.read(at, Math.min(at + FRAME, resampler.length)));
		const packet = encoder.encode(frame);
		// Calls and devices come between two packets of any texts.
		await setImmediate();
		return packet;
	};
	const packetAt = async (index: number): Promise<Uint8Array | undefined> => {
		packets[index] ??= turns(encode, index * FRAME);
		return await packets[index];
	};
	await packetAt(0);
	return {
		async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
			for (let index = 0; index * FRAME < resampler.length; index += 1) {
				const packet = await packetAt(index);
				if (packet === undefined) {
					return;
				}
				yield packet;
			}
		},
		/** Frees the encoder: readers get the packets that are encoded already, then the end. Call it once. */
		close(): void {
			isOpen = false;
			encoder.free();
		},
	};
}
