import type { Face } from "../hardware/hardware.js";
import type { Envelope } from "../protocols/envelope.js";
import { AppPart, type DeviceState, type Listener } from "./listener.js";
import { shortText } from "./text/short-text.js";

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
			void app.drawAttention();
		}
		if (message.type === "system") {
			const { state, log } = app;
			const command = shortText(message.command);
			if (command === "reboot") {
				app.restart();
			} else if (command === "lazy_reboot") {
				this.restartsWhenIdle = true;
				this.onState(state);
			} else {
				log(`unknown system command ${JSON.stringify(command)}`);
			}
		}
	}

	/** Restarts an idle device, so that no conversation is cut off. */
	onState(state: DeviceState): void {
		if (this.restartsWhenIdle && state === "idle") {
			this.restartsWhenIdle = false;
			this.app.restart();
		}
	}
}

/** Letters and digits, roughly: no punctuation, symbols, emoji or joiners. */
const wordPattern = (): RegExp =>
	/[0-9A-Za-z\u{c0}-\u{1fff}\u{2c00}-\u{2fff}\u{3040}-\u{3296}\u{3400}-\u{fdff}\u{fe70}-\u{fffd}\u{20000}-\u{3ffff}]/u;
const emojiPattern = (): RegExp => /[\u{1f300}-\u{10ffff}]/u;

/** Reads the change of the face in a message. Members that are missing or of the wrong type change nothing. */
const faceChange = (message: Envelope): Partial<Face> => {
	switch (message.type) {
		case "stt":
		case "notify":
		case "speak_request":
			return textChange(message.text);
		case "tts":
			return message.state === "sentence_start" ? textChange(message.text) : {};
		case "llm": {
			// The text is often an emoji for the emotion, which must not replace the spoken text.
			const text = shortText(message.text);
			const isSpoken = wordPattern().test(text);
			const emoji = !isSpoken && emojiPattern().test(text) ? text : "";
			return { ...emotionChange(shortText(message.emotion) || emoji), ...(isSpoken && { message: text }) };
		}
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

const emotionChange = (emotion: unknown): Partial<Face> =>
	shortText(emotion) === "" ? {} : { emotion: shortText(emotion) };
