import type { Face, Glyphs } from "../hardware/hardware.js";
import type { Player } from "../hardware/sound.js";
import type { Words } from "../language/en.js";
import type { Envelope } from "../protocols/envelope.js";
import { drawAttention } from "../sound/chime.js";
import type { NetworkEvents } from "./device-network.js";
import { faceChange } from "./face-change.js";
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
