import type { Server } from "xs-mcp-manager/core";
import { events } from "../events/plugin.js";
import type { RunningGateway } from "../gateway.js";
import { speech } from "../speech/plugin.js";
import type { Microphones } from "./microphones.js";
import { MAX_SECONDS } from "./recording.js";

/** Caller in the log: a person at the device has begun it. */
const PRINCIPAL = "device";

const NAME = "speech.heard";

/**
 * Records speech as an event when a device starts to listen by itself, after a press or a wake word, and only while a client
 * subscribes to that. Listening that follows a request of the gateway does not count.
 */
export function recordHeard(gateway: RunningGateway, microphones: Microphones): void {
	const { turns } = gateway.use(speech);
	const service = gateway.use(events);
	const hear = async (device: Server): Promise<void> => {
		const { signal } = new AbortController();
		const what = { seconds: MAX_SECONDS, untilSilence: true };
		const { text } = await microphones.listen(device, what, { principal: PRINCIPAL, signal });
		if (text !== "") {
			service.log.append({ name: NAME, device: device.id, data: { device: device.alias, text } });
		}
	};
	gateway.servers.on("connected", (device, { audio }) => {
		audio?.on("message", ({ type, state }) => {
			const begins = type === "listen" && state === "start" && device.online && !turns.isBusy(device);
			const event = { name: NAME, device: device.id, data: { device: device.alias, text: "" } };
			if (begins && service.wants(event)) {
				hear(device).catch(({ message }: Error) =>
					gateway.limitedLog.warn("speech", { device: device.id }, `not heard: ${message}`),
				);
			}
		});
	});
}
