import type { Settings } from "../hardware/hardware.js";

/**
 * The device's UUID: the configured one, or else one of version 4
 * (https://www.rfc-editor.org/rfc/rfc9562#section-5.4), made once. It is kept for the life of the flash.
 *
 * @param configured replaces the one that is kept
 * @param random a number in [0, 1)
 */
export const deviceUuid = (
	settings: Settings | undefined,
	configured?: string,
	random: () => number = Math.random,
): string => {
	const stored = settings?.get("board", "uuid");
	if (typeof stored === "string" && (configured === undefined || configured === stored)) {
		return stored;
	}
	const uuid = configured ?? makeUuid(random);
	settings?.set("board", "uuid", uuid);
	return uuid;
};

const makeUuid = (random: () => number): string =>
	"xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx".replace(/[xy]/g, (place) => {
		const digit = Math.floor(random() * 16);
		return (place === "x" ? digit : (digit & 0x3) | 0x8).toString(16);
	});
