const MAC_ADDRESS = /^(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i;

/** Returns a device's id in one form: a MAC address in lower case, because programs write it either way. */
export function deviceIdOf(text: string): string {
	return MAC_ADDRESS.test(text) ? text.toLowerCase() : text;
}
