import type { Runtime, TimerHandle } from "../hardware/hardware.js";
import type { Player } from "../hardware/sound.js";
import { FAMILY_AUDIO } from "../protocols/envelope.js";
import type { OpusThread } from "./opus-threads.js";
import type { AudioOutOptions } from "./played-sound.js";

/** Samples of a packet, and their bytes. */
const FRAME = (FAMILY_AUDIO.sample_rate * FAMILY_AUDIO.frame_duration) / 1_000;
const FRAME_BYTES = 2 * FRAME;

/** Milliseconds between two checks for a packet: a third of its duration. */
const PERIOD = 20;

/** ECMA-419's audio in. */
export interface AudioIn {
	start(): void;
	/** @returns samples of 16 bits, low byte first. Throws an Error if there are fewer bytes */
	read(byteLength: number): ArrayBuffer;
	close(): void;
}

export interface AudioInOptions extends Pick<AudioOutOptions, "audioType" | "sampleRate" | "bitsPerSample"> {
	readonly channels: 1 | 2;
	readonly onReadable: (bytes: number) => void;
}

/** Parts of a codec. Samples have 16 bits, low byte first. */
export interface CodecParts extends Runtime {
	readonly player: Player;
	/** Channels of the audio in that give the samples of one microphone. Undefined on a board without one. */
	readonly channels?: 1 | 2 | undefined;
	/** Whether the microphone has an I2S port that the player does not use: then it records while the player plays. */
	readonly hasOwnPort: boolean;
	readonly AudioIn: new (options: AudioInOptions) => AudioIn;
	readonly OpusThread: new (sampleRate: number, frame: number, prebuffer?: number) => OpusThread;
}

/** Records and encodes until it is closed. The audio in holds samples of 256 ms on an ESP32. */
export class Recording {
	private readonly parts: CodecParts;
	private readonly encoder: OpusThread;
	private readonly in: AudioIn;
	private readonly timer: TimerHandle;
	private readonly frame = new Uint8Array(FRAME_BYTES);
	private filled = 0;
	private lost = 0;
	private isClosed = false;

	/** @throws Error as the platform's classes, if there is no microphone or no memory */
	constructor(parts: CodecParts, channels: 1 | 2, onPacket: (packet: Uint8Array) => void) {
		const { AudioIn, OpusThread, timer } = parts;
		const sampleRate = FAMILY_AUDIO.sample_rate;
		const onReadable = (bytes: number): void => this.read(bytes);
		this.parts = parts;
		this.encoder = new OpusThread(sampleRate, FRAME);
		try {
			this.in = new AudioIn({ audioType: "LPCM", sampleRate, channels, bitsPerSample: 16, onReadable });
			this.in.start();
		} catch (error) {
			this.encoder.close();
			throw error;
		}
		this.timer = timer.repeat(() => this.passPackets(onPacket), PERIOD);
	}

	/** The platform may call once more after close. An exception in a callback would end the machine. */
	private read(bytes: number): void {
		try {
			if (!this.isClosed) {
				this.encode(new Uint8Array(this.in.read(bytes)));
			}
		} catch (error) {
			this.parts.log(`recorded samples are lost: ${(error as Error).message}`);
		}
	}

	private encode(samples: Uint8Array): void {
		for (let at = 0; at < samples.byteLength; ) {
			const piece = samples.subarray(at, at + FRAME_BYTES - this.filled);
			this.frame.set(piece, this.filled);
			this.filled += piece.byteLength;
			at += piece.byteLength;
			if (this.filled === FRAME_BYTES) {
				this.filled = 0;
				this.lost += this.encoder.write(this.frame) ? 0 : 1;
			}
		}
	}

	/** A receiver of a packet may close the recording. */
	private passPackets(onPacket: (packet: Uint8Array) => void): void {
		for (let packet = this.encoder.read(); packet; packet = this.isClosed ? null : this.encoder.read()) {
			onPacket(new Uint8Array(packet));
		}
	}

	close(): void {
		const { timer, log } = this.parts;
		this.isClosed = true;
		timer.clear(this.timer);
		this.in.close();
		this.lost += this.encoder.close();
		if (this.lost > 0) {
			log(`${this.lost} packets of what was recorded are lost`);
		}
	}
}
