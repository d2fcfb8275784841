import type { Server, ServerRegistry } from "xs-mcp-manager/core";
import type { EventService } from "../events/event-service.js";
import type { DeviceTurns } from "../speech/device-turns.js";
import type { Microphones } from "./microphones.js";
import { MAX_SECONDS } from "./recording.js";

/** Caller in the log: a person at the device has begun it. */
const PRINCIPAL = "device";

const NAME = "speech.heard";

/**
 * Records speech as an event when a device starts to listen by itself, after a press or a wake word, and only while a client
 * subscribes to that. Listening that follows a request of the gateway does not count.
 */
export function recordHeard(
	servers: ServerRegistry,
	turns: DeviceTurns,
	microphones: Microphones,
	events: Pick<EventService, "wants" | "log">,
	onFailure: (device: string, reason: string) => void,
): void {
	const hear = async (device: Server): Promise<void> => {
		const { signal } = new AbortController();
		const what = { seconds: MAX_SECONDS, untilSilence: true };
		const { text } = await microphones.listen(device, what, { principal: PRINCIPAL, signal });
		if (text !== "") {
			events.log.append({ name: NAME, device: device.id, data: { device: device.alias, text } });
		}
	};
	servers.on("connected", (device, { audio }) => {
		audio?.on("message", ({ type, state }) => {
			const begins = type === "listen" && state === "start" && device.online && !turns.isBusy(device);
			const event = { name: NAME, device: device.id, data: { device: device.alias, text: "" } };
			if (begins && events.wants(event)) {
				hear(device).catch((error: Error) => onFailure(device.id, error.message));
			}
		});
	});
}
