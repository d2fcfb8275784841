import type { Settings } from "../hardware/hardware.js";

/**
 * The device's UUID, of version 4 (https://www.rfc-editor.org/rfc/rfc9562#section-5.4): made once, then kept for the life of the flash.
 *
 * @param random a number from 0 to below 1
 */
export function deviceUuid(settings: Settings | undefined, random: () => number = Math.random): string {
	const stored = settings?.get("board", "uuid");
	if (typeof stored === "string") {
		return stored;
	}
	const uuid = "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx".replace(/[xy]/g, (place) => {
		const digit = Math.floor(random() * 16);
		return (place === "x" ? digit : (digit & 0x3) | 0x8).toString(16);
	});
	settings?.set("board", "uuid", uuid);
	return uuid;
}
