import type { Settings } from "../hardware/hardware.js";
import { ProtocolError } from "../protocols/protocol-error.js";
import { fromHex } from "../text/hex.js";
import { readSetting } from "./read-setting.js";

/** How the device updates itself. */
export interface UpdateConfig {
	/** The public key that images must be signed for: an uncompressed point of P-256. Undefined: they need no signature. */
	readonly key: ArrayBuffer | undefined;
	/** Milliseconds in which new firmware must reach its backend. */
	readonly trialTime: number;
}

/** Seconds. */
const TRIAL = 300;
const SHORTEST_TRIAL = 1;
const LONGEST_TRIAL = 86_400;

const KEY_BYTES = 65;
/** The first byte of an uncompressed point. */
const UNCOMPRESSED = 4;

/**
 * Reads the settings of updates. The key is taken from what the firmware was built with alone: whoever can store a setting
 * must not be able to choose who signs.
 *
 * @throws ProtocolError "bad-config" that names the setting
 */
export function readUpdateConfig(
	built: Readonly<Record<string, unknown>>,
	settings: Settings | undefined,
): UpdateConfig {
	const trial = readSetting("updateTrial", built, settings) ?? TRIAL;
	const seconds = Number(trial);
	if (!Number.isInteger(seconds) || seconds < SHORTEST_TRIAL || seconds > LONGEST_TRIAL) {
		throw bad("updateTrial", `whole seconds from ${SHORTEST_TRIAL} to ${LONGEST_TRIAL}`, trial);
	}
	return { key: readKey(built.updateKey), trialTime: seconds * 1000 };
}

function readKey(value: unknown): ArrayBuffer | undefined {
	if (value === undefined || value === "") {
		return undefined;
	}
	const key = typeof value === "string" ? fromHex(value) : undefined;
	if (key?.byteLength !== KEY_BYTES || new Uint8Array(key)[0] !== UNCOMPRESSED) {
		throw bad("updateKey", `a public key of P-256: "04" and 128 hexadecimal digits`, value);
	}
	return key;
}

function bad(name: string, expected: string, value: unknown): ProtocolError {
	return new ProtocolError("bad-config", `${name}: expected ${expected}, got ${JSON.stringify(value)}`);
}
