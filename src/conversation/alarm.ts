import type { Player } from "../hardware/sound.js";
import type { Runtime, TimerHandle } from "../hardware/timer.js";
import { drawAttention } from "../sound/chime.js";

interface AlarmOptions extends Runtime {
	/** Absent on a board without one: the alarm is then silent. */
	readonly player?: Player | undefined;
}

/** How often the chime is played, unless somebody presses a button before. */
const RINGS = 5;

/** Milliseconds from chime to chime. */
const RING_INTERVAL = 4_000;

/** Plays the chime again and again, because nobody may be near. */
export class Alarm {
	readonly #options: AlarmOptions;
	#left = 0;
	#ringing: TimerHandle | undefined;

	constructor(options: AlarmOptions) {
		this.#options = options;
	}

	/** Begins to ring, or begins anew. */
	begin(): void {
		this.end();
		this.#left = RINGS;
		this.#ring();
	}

	/** @returns whether it was ringing */
	end(): boolean {
		const wasRinging = this.#ringing !== undefined;
		this.#options.timer.clear(this.#ringing);
		this.#ringing = undefined;
		return wasRinging;
	}

	#ring(): void {
		const { player, timer, log } = this.#options;
		this.#left -= 1;
		drawAttention(player, log);
		this.#ringing = this.#left === 0 || player === undefined ? undefined : timer.set(() => this.#ring(), RING_INTERVAL);
	}
}
