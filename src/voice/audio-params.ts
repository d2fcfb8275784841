import type { AudioParams } from "../hardware/sound.js";
import { deepFreeze } from "../text/deep-freeze.js";
import { isObject } from "../text/is-object.js";

/** Assumed if the backend's hello does not say, as by the C++ firmware. */
const DEFAULTS = deepFreeze({ sample_rate: 24_000, channels: 1, frame_duration: 60 });

/** The values that Opus allows: RFC 6716, section 2. */
const RATES = deepFreeze([8_000, 12_000, 16_000, 24_000, 48_000]);
const DURATIONS = deepFreeze([5, 10, 20, 40, 60, 80, 100, 120]);

/**
 * Reads the audio format of a hello: its member `audio_params`. What is missing has the family's default.
 *
 * @throws RangeError that names the member
 */
export const readAudioParams = (params: unknown): AudioParams => {
	const given = isObject(params) ? params : {};
	const { format = "opus" } = given;
	if (format !== "opus") {
		throw new RangeError(`audio_params.format: expected opus, got ${JSON.stringify(format)}`);
	}
	return {
		format,
		sample_rate: member(given, "sample_rate", RATES),
		channels: member(given, "channels", [1, 2]),
		frame_duration: member(given, "frame_duration", DURATIONS),
	};
};

const member = (given: Readonly<Record<string, unknown>>, name: keyof typeof DEFAULTS, values: readonly number[]) => {
	const value = given[name] ?? DEFAULTS[name];
	if (!values.includes(value as number)) {
		throw new RangeError(`audio_params.${name}: expected ${values.join(", ")}, got ${JSON.stringify(value)}`);
	}
	return value as number;
};
