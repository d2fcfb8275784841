import type { LIMITS, TokenRecord } from "./token-record.js";

/** The scopes of access tokens: what OAuth calls the limits that `token add` sets. */
export const SCOPES = {
	/** Sees devices and calls tools that are known to be read-only, like `--read-only`. */
	read: "devices:read",
	/** Calls every tool but user-only ones. */
	control: "devices:control",
	/** Calls user-only tools as well, like `--allow-user-tools`. */
	userTools: "devices:user-tools",
	/** Listens with microphones as well, like `--allow-microphone`. */
	microphone: "devices:microphone",
} as const;

/** `device:ID`: only this device, like `--device ID`. Several are allowed; without any, all devices. */
const DEVICE = "device:";

/** A client's rights. */
export type Limits = Pick<TokenRecord, keyof typeof LIMITS>;

/** Whether a word is a scope of the gateway. */
export function isScope(word: string): boolean {
	const isOfDevice = word.startsWith(DEVICE) && word.length > DEVICE.length && word.length <= DEVICE.length + 128;
	return isOfDevice || Object.values<string>(SCOPES).includes(word);
}

/** The limits that scopes allow; undefined if they allow nothing. Unknown words are ignored. */
export function limitsOf(scopes: Iterable<string>): Limits | undefined {
	const words = [...scopes].filter(isScope);
	const devices = words.filter((word) => word.startsWith(DEVICE)).map((word) => deviceIdOf(word.slice(DEVICE.length)));
	const userTools = words.includes(SCOPES.userTools);
	const microphone = words.includes(SCOPES.microphone);
	const control = userTools || microphone || words.includes(SCOPES.control);
	if (!control && !words.includes(SCOPES.read)) {
		return undefined;
	}
	return {
		...(devices.length > 0 && { devices }),
		...(!control && { readOnly: true }),
		...(userTools && { userTools: true }),
		...(microphone && { microphone: true }),
	};
}

/** The scopes of limits, separated by spaces: RFC 6749 section 3.3. */
export function scopesOf({ devices = [], readOnly, userTools, microphone }: Limits): string {
	const more = [...(userTools ? [SCOPES.userTools] : []), ...(microphone ? [SCOPES.microphone] : [])];
	const tools = readOnly ? [SCOPES.read] : [SCOPES.control, ...more];
	return [...tools, ...devices.map((id) => DEVICE + id)].join(" ");
}

const MAC_ADDRESS = /^(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i;

/** Returns a device's id in one form: a MAC address in lower case, because programs write it either way. */
export function deviceIdOf(text: string): string {
	return MAC_ADDRESS.test(text) ? text.toLowerCase() : text;
}
