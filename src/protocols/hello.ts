import { deepFreeze } from "../core/text/deep-freeze.js";
import { isObject } from "../core/text/is-object.js";
import type { TextFont } from "../hardware/hardware.js";
import type { AudioParams } from "../hardware/sound.js";
import type { Envelope } from "./envelope.js";
import type { Transport } from "./transport.js";
import { ProtocolError } from "./transport.js";

/** The C++ firmware's values. Some backends need a format, so boards without audio send it by default, too. */
const FAMILY_AUDIO: AudioParams = deepFreeze({ format: "opus", sample_rate: 16_000, channels: 1, frame_duration: 60 });

/**
 * The device's first message. `features` has only booleans: some backends accept nothing else.
 *
 * @param audio the format of the board's codec, which is then a feature, too; null to name none. Default: the family's, without a codec.
 *   It is copied because XS cannot stringify preloaded objects.
 * @param font the screen's font, if the backend may send glyphs for it
 * @param aec whether the backend is to cancel echoes
 */
export const helloMessage = (
	{ name, version, maxMessageBytes }: Pick<Transport, "name" | "version" | "maxMessageBytes">,
	audio?: AudioParams | null,
	font?: TextFont,
	aec?: boolean,
): string =>
	JSON.stringify({
		type: "hello",
		version,
		features: { mcp: true, aec: aec || undefined, glyph_push: font && true, audio: audio ? true : undefined },
		transport: name,
		audio_params: audio === null ? undefined : { ...(audio ?? FAMILY_AUDIO) },
		text_font: font && { ...font },
		max_message_bytes: maxMessageBytes,
	});

/** A session, from the backend's hello. */
export interface Session {
	/** Empty if the backend sent none. */
	readonly id: string;
	/** The backend's hello as received: `audio_params`, `udp` and other members. */
	readonly hello: Readonly<Record<string, unknown>>;
}

/**
 * Reads the backend's hello. Any transport name is accepted: backends do not agree on them.
 *
 * @throws ProtocolError "hello-refused", if a member has the wrong type
 */
export const readHello = (hello: Envelope): Session => {
	const id = hello.session_id ?? "";
	if (typeof id !== "string") {
		throw refused("session_id", "a string", id);
	}
	if (!isObject(hello.audio_params ?? {})) {
		throw refused("audio_params", "an object", hello.audio_params);
	}
	return { id, hello };
};

const refused = (member: string, expected: string, got: unknown): ProtocolError =>
	new ProtocolError("hello-refused", `hello: ${member}: expected ${expected}, got ${JSON.stringify(got)}`);
