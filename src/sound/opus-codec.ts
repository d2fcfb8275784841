import type { AudioParams, Codec, OnRecorded, Sound } from "../hardware/sound.js";
import { FAMILY_AUDIO } from "../protocols/envelope.js";
import type { OpusThread } from "./opus-threads.js";
import { type CodecParts, Recording } from "./recording.js";

/** Milliseconds of sound to buffer before playing, because of network jitter. */
const PREBUFFER = 180;

/** Maximum number of packets to buffer before playing: half of the decoder's queue. */
const MAX_PREBUFFERED = 20;

/** Milliseconds between two checks for decoded samples: less than the audio output buffers. */
const PERIOD = 20;

/** Timestamps of played packets that wait for a recorded one, as on the C++ firmware. */
const MAX_ECHOES = 3;

interface Played {
	readonly decoder: OpusThread;
	readonly sound: Sound;
	/** Timestamps of the packets in the decoder. */
	readonly timestamps: number[];
	/** Resolves when the last sample was played, or playing ended early. */
	over: Promise<void>;
}

/**
 * Plays packets of Opus with the board's player, and records them with its microphone. Both at the same time if the microphone
 * has an I2S port that the player does not use.
 */
export class OpusCodec implements Codec {
	readonly params = FAMILY_AUDIO;
	readonly isFullDuplex: boolean;
	private readonly parts: CodecParts;
	private played: Played | undefined;
	/** Reason why the latest sound ended early. `stop` is not a failure. */
	private failure: Error | undefined;
	private recording: Recording | undefined;
	/** Timestamps of packets that were played and are not yet reported, the oldest first. */
	private echoes: number[] = [];

	constructor(parts: CodecParts) {
		const { channels, hasOwnPort } = parts;
		this.parts = parts;
		this.isFullDuplex = hasOwnPort;
		if (channels !== undefined) {
			this.record = (onPacket) => this._record(channels, onPacket);
		}
	}

	record?(onPacket: OnRecorded | undefined): void;

	begin({ sample_rate: rate, frame_duration: duration }: AudioParams): void {
		this.stop();
		this.echoes = [];
		if (!this.isFullDuplex) {
			this.stopRecording();
		}
		const { player, OpusThread } = this.parts;
		const prebuffer = Math.min(MAX_PREBUFFERED, Math.ceil(PREBUFFER / duration));
		const decoder = new OpusThread(rate, (rate * duration) / 1_000, prebuffer);
		try {
			const played: Played = { decoder, sound: player.begin(rate), timestamps: [], over: Promise.resolve() };
			this.played = played;
			played.over = this._play(played).catch((error: Error) => {
				if (this.played === played) {
					this.stop();
					this.failure = error;
				}
			});
		} catch (error) {
			decoder.close();
			throw error;
		}
	}

	play(packet: Uint8Array, timestamp = 0): boolean {
		const { decoder, timestamps } = this.played ?? {};
		this.expectPlayed();
		if (decoder?.write(packet) === false) {
			return false;
		}
		timestamps?.push(timestamp);
		return true;
	}

	async end(): Promise<void> {
		this.played?.decoder.complete();
		await this.played?.over;
		this.expectPlayed();
	}

	stop(): void {
		this.failure = undefined;
		this.played?.sound.stop();
		this.close();
	}

	private expectPlayed(): void {
		if (this.failure !== undefined) {
			throw this.failure;
		}
	}

	private _record(channels: 1 | 2, onPacket: OnRecorded | undefined): void {
		const { player } = this.parts;
		this.stopRecording();
		if (onPacket !== undefined) {
			if (!this.isFullDuplex) {
				this.stop();
				player.stop();
			}
			this.recording = new Recording(this.parts, channels, (packet) => onPacket(packet, this.echoes.shift() ?? 0));
			player.isHeld = !this.isFullDuplex;
		}
	}

	private stopRecording(): void {
		this.recording?.close();
		this.recording = undefined;
		this.parts.player.isHeld = false;
	}

	private async _play(played: Played): Promise<void> {
		const { decoder, sound, timestamps } = played;
		while (this.played === played) {
			const samples = decoder.read();
			if (samples === null) {
				await sound.end();
				if (this.played === played) {
					this.close();
				}
			} else if (samples === undefined) {
				await new Promise<void>((resolve) => this.parts.timer.set(resolve, PERIOD));
			} else {
				await sound.write(new Uint8Array(samples));
				const timestamp = timestamps.shift() ?? 0;
				if (timestamp > 0 && this.echoes.push(timestamp) > MAX_ECHOES) {
					this.echoes.shift();
				}
			}
		}
	}

	private close(): void {
		const bad = this.played?.decoder.close() ?? 0;
		this.played = undefined;
		if (bad > 0) {
			this.parts.log(`${bad} packets could not be decoded: no Opus`);
		}
	}
}
