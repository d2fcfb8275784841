import type { AudioParams, Codec } from "../../src/hardware/sound.js";

export class FakeCodec implements Codec {
	readonly params = { format: "opus", sample_rate: 16_000, channels: 1, frame_duration: 60 };
	/** "begin 24000", "play 3", "end", "stop", "record", "stop recording". */
	readonly calls: string[] = [];
	muted = false;
	failure: Error | undefined;
	#onPacket: ((packet: Uint8Array) => void) | undefined;
	#ended: { resolve(): void; reject(error: Error): void } | undefined;

	begin({ sample_rate: rate, frame_duration: duration }: AudioParams): void {
		this.calls.push(`begin ${rate} ${duration}`);
	}

	play(packet: Uint8Array): void {
		if (this.failure !== undefined) {
			throw this.failure;
		}
		this.calls.push(`play ${[...packet].join()}`);
	}

	end(): Promise<void> {
		this.calls.push("end");
		return new Promise((resolve, reject) => {
			this.#ended = { resolve, reject };
		});
	}

	stop(): void {
		this.calls.push("stop");
		this.#ended?.resolve();
	}

	record(onPacket: ((packet: Uint8Array) => void) | undefined): void {
		if (onPacket !== undefined && this.failure !== undefined) {
			throw this.failure;
		}
		this.calls.push(onPacket === undefined ? "stop recording" : "record");
		this.#onPacket = onPacket;
	}

	played(error?: Error): void {
		error === undefined ? this.#ended?.resolve() : this.#ended?.reject(error);
	}

	recorded(...packet: readonly number[]): void {
		this.#onPacket?.(Uint8Array.from(packet));
	}
}
