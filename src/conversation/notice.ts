import type { Chat } from "../hardware/assistant.js";
import type { Face } from "../hardware/hardware.js";
import type { TimerHandle, TimerModule } from "../hardware/timer.js";
import type { Envelope } from "../protocols/envelope.js";
import { isObject } from "../text/is-object.js";
import { shortText } from "../text/short-text.js";

interface NoticeOptions {
	readonly timer: TimerModule;
	readonly chat: Pick<Chat, "show"> | undefined;
	show(change: Partial<Face>): void;
	/** Plays the sound that draws attention. */
	sound(): void;
}

/** A text, and when it is shown: milliseconds from the notice. */
interface Subtitle {
	readonly start: number;
	readonly text: string;
}

/** Subtitles of a notice. */
const MAX_SUBTITLES = 32;

/** The longest notice, ms. */
const MAX_TIME = 600_000;

/** A backend's `notify` to an idle device: a sound, and texts one after another. Its recording is not played: it is Opus. */
export class Notice {
	readonly #options: NoticeOptions;
	#timers: TimerHandle[] = [];

	constructor(options: NoticeOptions) {
		this.#options = options;
	}

	begin(message: Envelope): void {
		const { timer, sound } = this.#options;
		this.end();
		sound();
		const text = shortText(message.text);
		for (const subtitle of readSubtitles(message.subtitles)) {
			if (subtitle.start === 0) {
				this.#show(subtitle.text);
			} else {
				this.#timers.push(timer.set(() => this.#show(subtitle.text), subtitle.start));
			}
		}
		if (text !== "") {
			this.#options.chat?.show(`notice: ${text}`);
		}
	}

	/** Shows no more of it. */
	end(): void {
		for (const each of this.#timers) {
			this.#options.timer.clear(each);
		}
		this.#timers = [];
	}

	#show(message: string): void {
		this.#options.show({ message });
		this.#options.chat?.show(`notice: ${message}`);
	}
}

/** What is missing or of the wrong type is left out. */
function readSubtitles(subtitles: unknown): readonly Subtitle[] {
	const list: unknown[] = Array.isArray(subtitles) ? subtitles.slice(0, MAX_SUBTITLES) : [];
	return list.flatMap((each) => {
		const { start_ms: start = 0, text } = isObject(each) ? each : {};
		const isValid = typeof start === "number" && start >= 0 && start <= MAX_TIME && shortText(text) !== "";
		return isValid ? [{ start, text: shortText(text) }] : [];
	});
}
