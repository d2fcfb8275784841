import type { AudioParams } from "../hardware/sound.js";
import { deepFreeze } from "../text/deep-freeze.js";
import { isObject } from "../text/is-object.js";
import type { Envelope } from "./envelope.js";
import { ProtocolError } from "./protocol-error.js";
import type { Transport } from "./transport.js";

/**
 * What the C++ firmware says. Backends exist that read the format without asking whether there is one, so a board that can
 * neither play nor record says it too.
 */
const FAMILY_AUDIO: AudioParams = deepFreeze({ format: "opus", sample_rate: 16_000, channels: 1, frame_duration: 60 });

/**
 * The device's first message. Nothing but booleans is in `features`: backends exist that accept nothing else there.
 *
 * @param audio the board's format, if it has one. It is copied because XS cannot stringify what was preloaded into flash.
 */
export function helloMessage(
	{ name, version, maxMessageBytes }: Pick<Transport, "name" | "version" | "maxMessageBytes">,
	audio: AudioParams = FAMILY_AUDIO,
): string {
	return JSON.stringify({
		type: "hello",
		version,
		features: { mcp: true },
		transport: name,
		audio_params: { ...audio },
		max_message_bytes: maxMessageBytes,
	});
}

/** What a backend's hello begins. */
export interface Session {
	/** Empty when the backend gave none. */
	readonly id: string;
	/** The backend's hello as it came: `audio_params`, `udp`, and whatever else it says. */
	readonly hello: Readonly<Record<string, unknown>>;
}

/**
 * Reads the backend's hello. Any name of a transport will do: backends do not agree on them.
 *
 * @throws ProtocolError "hello-refused", when a member has the wrong type
 */
export function readHello(hello: Envelope): Session {
	const id = hello.session_id ?? "";
	if (typeof id !== "string") {
		throw refused("session_id", "a string", id);
	}
	if (!isObject(hello.audio_params ?? {})) {
		throw refused("audio_params", "an object", hello.audio_params);
	}
	return { id, hello };
}

function refused(member: string, expected: string, got: unknown): ProtocolError {
	return new ProtocolError("hello-refused", `hello: ${member}: expected ${expected}, got ${JSON.stringify(got)}`);
}
