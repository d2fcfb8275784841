import type { Face, Glyphs } from "../hardware/hardware.js";
import type { Player } from "../hardware/sound.js";
import type { Words } from "../language/en.js";
import type { Envelope } from "../protocols/envelope.js";
import { drawAttention } from "../sound/chime.js";
import { deepFreeze } from "../text/deep-freeze.js";
import { shortText } from "../text/short-text.js";
import type { NetworkEvents } from "./device-network.js";
import type { PartsLink } from "./observed-parts.js";

interface BackendFaceOptions {
	/** The font of the bare screen. */
	readonly glyphs: Glyphs | undefined;
	readonly player: Player | undefined;
	readonly words: Words | undefined;
}

/** Shows the backend's messages, and draws attention to alerts. */
export class BackendFace {
	private readonly link: NetworkEvents & PartsLink;
	private readonly options: BackendFaceOptions;

	constructor(link: NetworkEvents & PartsLink, options: BackendFaceOptions) {
		this.link = link;
		this.options = options;
	}

	receive(message: Envelope): void {
		this.options.glyphs?.take(message.glyph_push);
		const change = faceChange(message);
		if (Object.keys(change).length > 0) {
			this.show(change);
		}
	}

	/** Shows an alert of the device itself for a while. */
	alert(status: keyof Words, message: string): void {
		this.show({ alert: { status: this.options.words?.[status] ?? "", message } });
	}

	private show(change: Partial<Face>): void {
		this.link.show(change);
		if (change.alert !== undefined) {
			drawAttention(this.options.player, this.link.log);
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

/** From here on are emoji. */
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
			// Its text is often an emoji for the emotion, which must not take the place of what was said.
			return {
				...emotionChange(shortText(message.emotion) || emojiOf(shortText(message.text))),
				...(hasWords(shortText(message.text)) && textChange(message.text)),
			};
		case "alert":
			return {
				...alertChange(shortText(message.status), shortText(message.message)),
				...emotionChange(message.emotion),
			};
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

const alertChange = (status: string, message: string): Partial<Face> =>
	status === "" && message === "" ? {} : { alert: { status, message } };
