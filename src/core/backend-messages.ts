import type { Face } from "../hardware/hardware.js";
import type { Envelope } from "../protocols/envelope.js";
import { drawAttention } from "../sound/chime.js";
import { AppPart, type DeviceState, type Listener } from "./listener.js";
import { deepFreeze } from "./text/deep-freeze.js";
import { shortText } from "./text/short-text.js";

/** Delay of a restart, ms, so that queued messages still arrive. */
export const RESTART_DELAY = 1000;

/** Shows the backend's messages, draws attention to alerts, and carries out the commands of `system` messages. */
export class BackendMessages extends AppPart implements Listener {
	private restartsWhenIdle = false;

	onMessage(message: Envelope): void {
		const { app } = this;
		app.board.screen?.glyphs?.take(message.glyph_push);
		const change = faceChange(message);
		if (Object.keys(change).length > 0) {
			app.show(change);
		}
		if (change.alert !== undefined) {
			void drawAttention(app.board.player, app.log);
		}
		if (message.type === "system") {
			this.carryOut(shortText(message.command));
		}
	}

	/** Restarts an idle device, so that no conversation is cut off. */
	onState(state: DeviceState): void {
		if (this.restartsWhenIdle && state === "idle") {
			this.restartsWhenIdle = false;
			this.app.board.system.restart(RESTART_DELAY);
		}
	}

	private carryOut(command: string): void {
		const { board, state, log } = this.app;
		if (command === "reboot") {
			board.system.restart(RESTART_DELAY);
		} else if (command === "lazy_reboot") {
			this.restartsWhenIdle = true;
			this.onState(state);
		} else {
			log(`unknown system command ${JSON.stringify(command)}`);
		}
	}
}

/** Code points of letters and digits, roughly: no punctuation, symbols, emoji or joiners. */
const LETTERS = deepFreeze([
	[0x30, 0x39],
	[0x41, 0x5a],
	[0x61, 0x7a],
	[0xc0, 0x1fff],
	[0x2c00, 0x2fff],
	[0x3040, 0x3296],
	[0x3400, 0xfdff],
	[0xfe70, 0xfffd],
	[0x20000, 0x3ffff],
] as const);

/** First code point that counts as an emoji. */
const EMOJI = 0x1f300;

/** A message's change of the face. Members that are missing or of the wrong type change nothing. */
const faceChange = (message: Envelope): Partial<Face> => {
	switch (message.type) {
		case "stt":
		case "notify":
		case "speak_request":
			return textChange(message.text);
		case "tts":
			return message.state === "sentence_start" ? textChange(message.text) : {};
		case "llm":
			// The text is often an emoji for the emotion, which must not replace the spoken text.
			return {
				...emotionChange(shortText(message.emotion) || emojiOf(shortText(message.text))),
				...(hasWords(shortText(message.text)) && textChange(message.text)),
			};
		case "alert": {
			const alert = { status: shortText(message.status), message: shortText(message.message) };
			return { ...(alert.status + alert.message !== "" && { alert }), ...emotionChange(message.emotion) };
		}
		case "custom":
			return textChange(message.payload);
		default:
			return {};
	}
};

const textChange = (text: unknown): Partial<Face> => (typeof text === "string" ? { message: shortText(text) } : {});

const hasWords = (text: string): boolean =>
	Array.from(text).some((character) => {
		const code = character.codePointAt(0) ?? 0;
		return LETTERS.some(([first, last]) => code >= first && code <= last);
	});

const emojiOf = (text: string): string =>
	hasWords(text) || !Array.from(text).some((each) => (each.codePointAt(0) ?? 0) >= EMOJI) ? "" : text;

const emotionChange = (emotion: unknown): Partial<Face> =>
	shortText(emotion) === "" ? {} : { emotion: shortText(emotion) };
