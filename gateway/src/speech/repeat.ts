import { setTimeout } from "node:timers/promises";
import type { Server } from "xs-mcp-manager/core";

/** How often a sound is repeated, and milliseconds between two. */
const MAX_REPEATS = 20;
const PAUSE = 2_000;

/**
 * Plays again and again until a button of the device is pressed, which also ends the sound.
 *
 * @param play rejects if the signal ends it
 * @returns whether a button was pressed
 */
export async function repeatUntilPressed(
	{ session }: Server,
	play: (signal: AbortSignal) => Promise<void>,
	cancelled: AbortSignal,
): Promise<{ readonly pressed: boolean }> {
	const pressed = new AbortController();
	const signal = AbortSignal.any([cancelled, pressed.signal]);
	const onNotification = (method: string): void => {
		if (method === "notifications/button_pressed") {
			pressed.abort();
		}
	};
	session?.on("notification", onNotification);
	try {
		for (let count = 0; count < MAX_REPEATS && !signal.aborted; count += 1) {
			await play(signal);
			await setTimeout(PAUSE, undefined, { signal });
		}
	} catch (error) {
		if (!pressed.signal.aborted) {
			throw error;
		}
	} finally {
		session?.off("notification", onNotification);
	}
	return { pressed: pressed.signal.aborted };
}
