/** A loudspeaker's volume. */
export interface Speaker {
	/** Percent of full volume, an integer from 0 to 100. */
	volume: number;
}

/** A sound being played. Samples have 16 bits, low byte first, and one channel. */
export interface Sound {
	/**
	 * Plays these samples after the earlier ones. The caller waits for the promise before it writes more, so that a long
	 * sound never fills the heap.
	 *
	 * @returns settles when there is room for more; rejects if the sound was stopped or cannot be played
	 */
	write(samples: Uint8Array): Promise<void>;
	/** Ends the samples. Settles when all of them were played; rejects as `write` does. */
	end(): Promise<void>;
	/** Ends the sound at once. Does nothing if it has ended. */
	stop(): void;
}

/** Reads a sound file that arrives in pieces of any size. */
export interface SoundReader {
	/** Hertz; undefined until samples were read. */
	readonly sampleRate: number | undefined;
	/**
	 * @param piece the next one, once the samples of the previous one were read; undefined at the end of the file
	 * @returns its samples, as {@link Sound} takes them
	 * @throws Error if the file cannot be played, perhaps only as samples are read
	 */
	read(piece?: Uint8Array): Iterable<Uint8Array>;
	/** Frees its memory outside the heap. Absent without any. */
	close?(): void;
}

/** A sound file of the firmware, which is in flash. */
export interface SoundFile {
	readonly byteLength: number;
	slice(begin: number, end: number): ArrayBuffer;
}

/** The sound files in the firmware. */
export interface SoundFiles {
	/** Their names: "ding.wav". */
	readonly names: readonly string[];
	/** @returns undefined if no file has this name */
	open(name: string): SoundFile | undefined;
}

/** Plays one sound at a time. */
export interface Player {
	/** Absent if the platform has no files. */
	readonly files?: SoundFiles | undefined;
	/** Opens a reader of WAV and MP3. Absent without a decoder. */
	readonly openReader?: (() => SoundReader) | undefined;
	readonly isPlaying: boolean;
	/** Whether a microphone records with the same I2S port: then nothing is played. */
	isHeld: boolean;
	/**
	 * Starts a sound, which replaces one that is being played.
	 *
	 * @param sampleRate Hertz, {@link MIN_RATE} to {@link MAX_RATE}
	 * @throws Error if the sample rate, the memory left or a microphone does not allow it
	 */
	begin(sampleRate: number): Sound;
	/** Stops the sound that is being played, if there is one. */
	stop(): void;
}

/** Sample rates that the SDK's audio out plays, in Hertz. */
export const MIN_RATE = 8_000;
export const MAX_RATE = 48_000;

/** The format of a board's audio, as in the hello. */
export interface AudioParams {
	readonly format: string;
	/** Hertz. */
	readonly sample_rate: number;
	readonly channels: number;
	/** Milliseconds. */
	readonly frame_duration: number;
}

/**
 * Plays a file of Ogg Opus from a URL while it arrives. Settles when it was played, or was stopped; rejects if it cannot be played.
 *
 * @param onStart called when its sound starts
 */
export type PlayOpusFile = (url: string, onStart: () => void) => Promise<void>;

/** Receives a recorded packet, and the timestamp of the packet that was played meanwhile: 0 for none. */
export type OnRecorded = (packet: Uint8Array, timestamp: number) => void;

/** Plays, and with a microphone records, packets of Opus, without their framing on the wire. */
export interface Codec {
	/** The format that it records, for the hello. */
	readonly params: AudioParams;
	/** Whether it records while it plays. Default false. */
	readonly isFullDuplex?: boolean;
	/** Whether a switch of the board has cut off its microphone. Absent on a board without one. */
	readonly muted?: boolean;
	/**
	 * Starts a sound, which replaces the previous one at once.
	 *
	 * @param params the format of its packets
	 * @throws Error if it cannot play them
	 */
	begin(params: AudioParams): void;
	/**
	 * Plays a packet after the previous ones. A packet that cannot be decoded is silence.
	 *
	 * @param packet valid during the call; empty: one that was lost
	 * @param timestamp the backend's. Default 0 for none
	 * @returns false if too many packets wait: it is dropped
	 * @throws Error if the sound failed
	 */
	play(packet: Uint8Array, timestamp?: number): boolean;
	/** Ends the packets. Settles when all were played, or the sound was stopped; rejects if they cannot be played. */
	end(): Promise<void>;
	/** Ends the sound at once. Does nothing without one. */
	stop(): void;
	/**
	 * Records from now on. Absent on a board without a microphone.
	 *
	 * @throws Error if it cannot
	 * @param onPacket called with each packet, of {@link params}; undefined ends the recording
	 */
	record?(onPacket: OnRecorded | undefined): void;
}
