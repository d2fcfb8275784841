import type { Settings } from "../hardware/hardware.js";
import { ProtocolError } from "../protocols/protocol-error.js";

/** Where the device finds its backend. */
export interface Config {
	/** ws://host[:port]/path, wss://… */
	readonly backend: string;
	/** Empty when the backend asks for none. */
	readonly token: string;
	/** Framing of binary audio on WebSocket. */
	readonly protocolVersion: 1 | 2 | 3;
}

/** The domain of the settings that override what the firmware was built with. */
export const CONFIG_DOMAIN = "xs-mcp";

/**
 * Reads the configuration: a stored setting if there is one, else what the firmware was built with.
 *
 * @throws ProtocolError "bad-config" that names the setting
 */
export function readConfig(built: Readonly<Record<string, unknown>>, settings: Settings | undefined): Config {
	const read = (key: string): unknown => settings?.get(CONFIG_DOMAIN, key) ?? built[key];
	return {
		backend: expectString("backend", read("backend")),
		token: expectString("token", read("token") ?? ""),
		protocolVersion: expectVersion(read("protocolVersion") ?? 1),
	};
}

function expectString(key: string, value: unknown): string {
	if (typeof value !== "string") {
		throw new ProtocolError("bad-config", `${key}: expected a string, got ${JSON.stringify(value)}`);
	}
	return value;
}

/** On the command line of mcconfig every value is a string. */
function expectVersion(value: unknown): 1 | 2 | 3 {
	const version = Number(value);
	if (version === 1 || version === 2 || version === 3) {
		return version;
	}
	throw new ProtocolError("bad-config", `protocolVersion: expected 1, 2 or 3, got ${JSON.stringify(value)}`);
}
