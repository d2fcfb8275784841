import type { WiFiAccess } from "../hardware/wifi-setup.js";
import { tryParseJson } from "./text/json.js";
import { utf8Length } from "./text/utf8.js";

/** Maximum number of known networks in addition to the setting `ssid`. */
export const MAX_NETWORKS = 4;

/** A fixed IPv4 address, in the form of ECMA-419's network interface. */
export interface StaticAddress {
	readonly address: string;
	readonly mask: string;
	readonly gateway: string;
	/** DNS server. */
	readonly dns: string;
}

/**
 * Reads a list of networks.
 *
 * @param text JSON: `[["NAME","PASSWORD"], …]`, with an empty password for an open network
 * @returns undefined if it is not valid
 */
export const parseNetworks = (text: unknown): readonly WiFiAccess[] | undefined => {
	const list = tryParseJson(text, 32);
	const isValid = Array.isArray(list) && list.length <= MAX_NETWORKS && list.every(isAccess);
	return isValid ? list.map(([ssid, password]) => ({ ssid, password })) : undefined;
};

/** Writes a list of networks as {@link parseNetworks} reads it. */
export const networksText = (networks: readonly WiFiAccess[]): string =>
	networks.length === 0 ? "" : JSON.stringify(networks.map(({ ssid, password }) => [ssid, password]));

/** Limits of IEEE 802.11: 32 bytes for a name, 8 to 63 characters for a password or 64 hexadecimal digits for a key. */
const isAccess = (value: unknown): value is readonly [string, string] => {
	if (!Array.isArray(value) || value.length !== 2 || !value.every((each) => typeof each === "string")) {
		return false;
	}
	const [ssid, password] = value.map(utf8Length) as [number, number];
	return ssid > 0 && ssid <= 32 && (password === 0 || (password >= 8 && password <= 64));
};

/**
 * Reads a fixed address.
 *
 * @param text `ADDRESS/BITS,GATEWAY`, and `,DNS` if the DNS server is not the gateway
 * @returns undefined if it is not valid
 */
export const parseStaticAddress = (text: unknown): StaticAddress | undefined => {
	const [subnet = "", gateway = "", dns = gateway, ...rest] = String(text)
		.split(",")
		.map((each) => each.trim());
	const [address = "", length = ""] = subnet.split("/");
	const bits = /^\d\d?$/.test(length) ? Number(length) : 0;
	if (rest.length > 0 || bits < 1 || bits > 30 || ![address, gateway, dns].every(isIPv4)) {
		return undefined;
	}
	const mask = [0, 8, 16, 24].map((start) => 256 - 2 ** (8 - Math.min(8, Math.max(0, bits - start)))).join(".");
	return { address, mask, gateway, dns };
};

const isIPv4 = (text: string): boolean => {
	const bytes = text.split(".");
	return bytes.length === 4 && bytes.every((byte) => /^\d{1,3}$/.test(byte) && Number(byte) < 256);
};
