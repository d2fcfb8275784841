import { readPem } from "../config/tls-files.js";
import { DeviceKey } from "../devices/device-key.js";
import type { HomeDeviceOptions } from "../home-assistant/home-device.js";
import type { ProgramContext } from "./context.js";
import type { Core } from "./open-core.js";

/**
 * Shows devices in Home Assistant, if the settings name its broker. Retries until the broker answers.
 * Rejects with ConfigurationError if the CA certificates cannot be read.
 */
export async function openHomeAssistant({ configuration, ...context }: ProgramContext, core: Core): Promise<void> {
	const { homeAssistant: url, homeAssistantPassword: password, homeAssistantCa: ca, stateFolder } = configuration;
	if (url === undefined) {
		return;
	}
	const announcements = core.speech?.announcements;
	const announce: HomeDeviceOptions["announce"] =
		announcements &&
		(async (server, text, principal) => {
			const { signal } = new AbortController();
			const [said] = await announcements.say({ text }, [server], { principal, signal });
			if (said?.outcome === "failed") {
				throw new Error(said.reason);
			}
		});
	const { showInHomeAssistant } = await import("../home-assistant/home-assistant.js");
	const close = showInHomeAssistant(core.gateway.servers, {
		url,
		password,
		ca: ca === undefined ? undefined : readPem("homeAssistantCa", ca),
		gatewayName: new DeviceKey(stateFolder).derive("home-assistant").slice(0, 16),
		announce,
		info: (message) => context.log.info(message),
		warn: (details, message) => context.limitedLog.warn("home-assistant", details, message),
	});
	context.onClose(close);
}
