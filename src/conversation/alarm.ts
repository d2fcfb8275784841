import type { TimerHandle } from "../hardware/timer.js";
import { drawAttention } from "../sound/chime.js";
import type { ConversationOptions } from "./backend-link.js";

/** How often the chime is played, unless a button is pressed before. */
const RINGS = 5;

/** Milliseconds from chime to chime. */
const RING_INTERVAL = 4_000;

/** Plays the chime again and again, because nobody may be near. Silent on a board without a player. */
export class Alarm {
	private readonly options: ConversationOptions;
	private left = 0;
	private ringing: TimerHandle | undefined;

	constructor(options: ConversationOptions) {
		this.options = options;
	}

	/** Begins to ring, or begins again. */
	begin(): void {
		this.end();
		this.left = RINGS;
		this.ring();
	}

	/** @returns whether it was ringing */
	end(): boolean {
		const wasRinging = this.ringing !== undefined;
		this.options.timer.clear(this.ringing);
		this.ringing = undefined;
		return wasRinging;
	}

	private ring(): void {
		const { board, timer, log } = this.options;
		const { player } = board;
		this.left -= 1;
		drawAttention(player, log);
		this.ringing = this.left === 0 || player === undefined ? undefined : timer.set(() => this.ring(), RING_INTERVAL);
	}
}
