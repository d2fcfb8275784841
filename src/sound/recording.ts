import type { Runtime, TimerHandle } from "../hardware/hardware.js";
import { FAMILY_AUDIO } from "../protocols/envelope.js";
import type { OpusThread } from "./opus-threads.js";
import type { AudioOutOptions } from "./played-sound.js";

/** Samples of a packet, and their bytes. */
const FRAME = (FAMILY_AUDIO.sample_rate * FAMILY_AUDIO.frame_duration) / 1_000;
const FRAME_BYTES = 2 * FRAME;

/** Milliseconds between two checks for a packet: a third of what one lasts. */
const PERIOD = 20;

/** ECMA-419's audio in. */
export interface AudioIn {
	start(): void;
	/** @returns samples of 16 bits, low byte first. Throws an Error if there are fewer bytes */
	read(byteLength: number): ArrayBuffer;
	close(): void;
}

interface AudioInOptions extends Pick<AudioOutOptions, "audioType" | "sampleRate" | "bitsPerSample"> {
	readonly channels: 1 | 2;
	readonly onReadable: (bytes: number) => void;
}

/** ECMA-419's record for the audio in. */
export interface AudioInRecord {
	readonly io: new (options: AudioInOptions) => AudioIn;
	/** Channels that the class needs to be set to for the samples of one microphone. */
	readonly channels: 1 | 2;
}

export interface Microphone {
	readonly audioIn: AudioInRecord;
	/** Whether it records while the player plays, through an I2S port that the player does not use. Default false. */
	readonly hasOwnPort?: boolean;
	/** Parameters as {@link OpusEncoder} has them. */
	readonly openEncoder: (sampleRate: number, frame: number) => OpusThread;
}

/** Records and encodes until it is closed. The audio in holds samples of 256 ms on an ESP32. */
export class Recording {
	private readonly runtime: Runtime;
	private readonly encoder: OpusThread;
	private readonly in: AudioIn;
	private readonly timer: TimerHandle;
	private readonly frame = new Uint8Array(FRAME_BYTES);
	private filled = 0;
	private dropped = 0;
	private isClosed = false;

	/** @throws Error as the platform's classes, if there is no microphone or no memory */
	constructor({ audioIn, openEncoder }: Microphone, runtime: Runtime, onPacket: (packet: Uint8Array) => void) {
		this.runtime = runtime;
		this.encoder = openEncoder(FAMILY_AUDIO.sample_rate, FRAME);
		try {
			this.in = this.open(audioIn);
			this.in.start();
		} catch (error) {
			this.encoder.close();
			throw error;
		}
		this.timer = runtime.timer.repeat(() => this.passPackets(onPacket), PERIOD);
	}

	private open({ io, channels }: AudioInRecord): AudioIn {
		return new io({
			audioType: "LPCM",
			sampleRate: FAMILY_AUDIO.sample_rate,
			channels,
			bitsPerSample: 16,
			onReadable: (bytes) => this.read(bytes),
		});
	}

	/** The platform may call once more after close. An exception in a callback would end the machine. */
	private read(bytes: number): void {
		try {
			if (!this.isClosed) {
				this.take(new Uint8Array(this.in.read(bytes)));
			}
		} catch (error) {
			this.runtime.log(`recorded samples are lost: ${(error as Error).message}`);
		}
	}

	/** A receiver of a packet may close the recording. */
	private passPackets(onPacket: (packet: Uint8Array) => void): void {
		for (let packet = this.encoder.read(); packet; packet = this.isClosed ? null : this.encoder.read()) {
			onPacket(new Uint8Array(packet));
		}
	}

	close(): void {
		if (this.isClosed) {
			return;
		}
		this.isClosed = true;
		this.runtime.timer.clear(this.timer);
		this.in.close();
		const lost = this.dropped + this.encoder.close();
		if (lost > 0) {
			this.runtime.log(`${lost} packets of what was recorded are lost`);
		}
	}

	private take(samples: Uint8Array): void {
		for (let at = 0; at < samples.byteLength; ) {
			const piece = samples.subarray(at, at + FRAME_BYTES - this.filled);
			this.frame.set(piece, this.filled);
			this.filled += piece.byteLength;
			at += piece.byteLength;
			if (this.filled === FRAME_BYTES) {
				this.filled = 0;
				this.dropped += this.encoder.write(this.frame) ? 0 : 1;
			}
		}
	}
}
