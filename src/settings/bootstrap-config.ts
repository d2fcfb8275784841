import type { Settings } from "../hardware/hardware.js";
import { ProtocolError } from "../protocols/protocol-error.js";
import { fromHex } from "../text/hex.js";
import { splitUrl } from "../text/url.js";
import { readSetting } from "./read-setting.js";

/** What the device needs to ask for its backend. */
export interface BootstrapConfig {
	/** Where it asks: http://… or https://… */
	readonly otaUrl: string;
	/** Seconds from one check to the next; 0 for only one, at the start. */
	readonly otaInterval: number;
	/** The serial number by which the manufacturer knows the device; empty for none. */
	readonly serialNumber: string;
	/** The key that proves the serial number. */
	readonly hmacKey: ArrayBuffer | undefined;
}

const DAY = 86_400;

/** Seconds that a timer can wait, and the fewest that do not burden the server. */
const LONGEST_INTERVAL = 2_000_000;
const SHORTEST_INTERVAL = 60;

/** It is sent as a header. */
const serialNumberPattern = (): RegExp => /^[\x21-\x7e]{0,64}$/;

/**
 * Reads the settings of the bootstrap: a stored setting if there is one, else what the firmware was built with.
 *
 * @returns undefined if `otaUrl` is not set: the backend is then the setting `backend`
 * @throws ProtocolError "bad-config" that names the setting
 */
export function readBootstrapConfig(
	built: Readonly<Record<string, unknown>>,
	settings: Pick<Settings, "get"> | undefined,
): BootstrapConfig | undefined {
	const read = (key: string): unknown => readSetting(key, built, settings);
	const otaUrl = read("otaUrl") ?? "";
	if (otaUrl === "") {
		return undefined;
	}
	if (typeof otaUrl !== "string" || !/^https?$/.test(splitUrl(otaUrl)?.scheme ?? "")) {
		throw bad("otaUrl", "http://host[:port][/path] or https://…", otaUrl);
	}
	const serialNumber = read("serialNumber") ?? "";
	if (typeof serialNumber !== "string" || !serialNumberPattern().test(serialNumber)) {
		throw bad("serialNumber", "at most 64 printable ASCII characters without spaces", serialNumber);
	}
	return { otaUrl, otaInterval: interval(read("otaInterval") ?? DAY), serialNumber, hmacKey: key(read("hmacKey")) };
}

function interval(value: unknown): number {
	const seconds = Number(value);
	const isAllowed = seconds === 0 || (seconds >= SHORTEST_INTERVAL && seconds <= LONGEST_INTERVAL);
	if (!Number.isInteger(seconds) || !isAllowed) {
		throw bad("otaInterval", `0, or whole seconds from ${SHORTEST_INTERVAL} to ${LONGEST_INTERVAL}`, value);
	}
	return seconds;
}

/** A key must not be quoted: what is wrong with it is told without it. */
function key(value: unknown): ArrayBuffer | undefined {
	if (value === undefined || value === "") {
		return undefined;
	}
	const bytes = typeof value === "string" && value.length <= 128 ? fromHex(value) : undefined;
	if (bytes === undefined) {
		throw new ProtocolError("bad-config", "hmacKey: expected at most 64 bytes as hexadecimal digits");
	}
	return bytes;
}

function bad(name: string, expected: string, value: unknown): ProtocolError {
	return new ProtocolError("bad-config", `${name}: expected ${expected}, got ${JSON.stringify(value)}`);
}
