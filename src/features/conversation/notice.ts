import type { Application } from "../../core/application.js";
import { AppPart, type Listener } from "../../core/listener.js";
import { isObject } from "../../core/text/json.js";
import { shortText } from "../../core/text/short-text.js";
import type { TimerHandle } from "../../hardware/hardware.js";
import type { Envelope } from "../../protocols/envelope.js";

const MAX_SUBTITLES = 32;

/** The longest notice, ms. */
const MAX_TIME = 600_000;

/** A backend's `notify` to an idle device: a sound, and subtitles that follow it. */
export class Notice extends AppPart implements Listener {
	private timers: TimerHandle[] = [];
	/** Counts notices, so that the sound of an earlier one has no effect. */
	private count = 0;

	onMessage(message: Envelope): void {
		if (message.type === "tts") {
			this.end();
		} else if (message.type === "notify" && isIdle(message, this.app)) {
			void this.showNotice(message);
		}
	}

	onPress(): boolean {
		this.end();
		return false;
	}

	private async showNotice({ audio_url: url, subtitles, text }: Envelope): Promise<void> {
		const { board, log } = this.app;
		this.end();
		const { count } = this;
		const chime = this.app.drawAttention();
		if (shortText(text) !== "") {
			board.chat?.show(`notice: ${shortText(text)}`);
		}
		let left = readSubtitles(subtitles);
		const follow = (): void => {
			for (const { start, text } of count === this.count ? left : []) {
				if (start === 0) {
					this.show(text);
				} else {
					this.timers.push(this.app.timer.set(() => this.show(text), start));
				}
			}
			left = [];
		};
		if (typeof url !== "string") {
			follow();
			return;
		}
		try {
			if (board.playOpusFile === undefined) {
				throw new Error(`${shortText(url)} is not played: this board plays no Opus`);
			}
			await chime;
			if (count === this.count) {
				await board.playOpusFile(url, follow);
			}
		} catch (error) {
			log(`notify: ${(error as Error).message}`);
			// The subtitles replace a sound that cannot be played.
			follow();
		}
	}

	/** Cancels the rest of the subtitles. */
	private end(): void {
		this.count += 1;
		for (const each of this.timers) {
			this.app.timer.clear(each);
		}
		this.timers = [];
	}

	private show(message: string): void {
		const { app } = this;
		app.show({ message });
		app.board.chat?.show(`notice: ${message}`);
	}
}

/** Whether the device is idle. Logs a message that is dropped because it is not. */
export const isIdle = ({ type }: Envelope, { state, log }: Application): boolean => {
	if (state !== "idle") {
		log(`${type} dropped: the device is ${state}`);
	}
	return state === "idle";
};

/** Returns the texts, and when to show each, in ms from the start. Invalid ones are omitted. */
const readSubtitles = (subtitles: unknown) => {
	const list: unknown[] = Array.isArray(subtitles) ? subtitles.slice(0, MAX_SUBTITLES) : [];
	return list.flatMap((each) => {
		const { start_ms: start = 0, text } = isObject(each) ? each : {};
		const isValid = typeof start === "number" && start >= 0 && start <= MAX_TIME && shortText(text) !== "";
		return isValid ? [{ start, text: shortText(text) }] : [];
	});
};
