import type { Player, Sound, SoundFiles } from "../../src/hardware/sound.js";

export class FakeSound implements Sound {
	readonly sampleRate: number;
	readonly pieces: Uint8Array[] = [];
	state: "open" | "ended" | "stopped" = "open";
	hasRoom = true;
	#waiting: { resolve(): void; reject(error: Error): void } | undefined;

	constructor(sampleRate: number) {
		this.sampleRate = sampleRate;
	}

	/** Byte by byte: pieces as arguments would fill the stack of XS. */
	get bytes(): number[] {
		const bytes: number[] = [];
		for (const piece of this.pieces) {
			for (const byte of piece) {
				bytes.push(byte);
			}
		}
		return bytes;
	}

	async write(samples: Uint8Array): Promise<void> {
		this.pieces.push(samples.slice());
		if (!this.hasRoom) {
			await new Promise<void>((resolve, reject) => {
				this.#waiting = { resolve, reject };
			});
		}
	}

	async end(): Promise<void> {
		this.state = "ended";
	}

	stop(): void {
		this.state = "stopped";
		this.#waiting?.reject(new Error("the sound was stopped"));
	}

	drain(): void {
		this.#waiting?.resolve();
	}
}

export class FakePlayer implements Player {
	readonly sounds: FakeSound[] = [];
	files: SoundFiles | undefined;
	isHeld = false;
	hasRoom = true;

	get isPlaying(): boolean {
		return this.sounds.some(({ state }) => state === "open");
	}

	begin(sampleRate: number): FakeSound {
		const sound = new FakeSound(sampleRate);
		sound.hasRoom = this.hasRoom;
		this.sounds.push(sound);
		return sound;
	}

	stop(): void {
		for (const sound of this.sounds) {
			sound.stop();
		}
	}
}
