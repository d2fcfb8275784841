import { FILE, inGroup, PASSWORD, setting, url } from "../config/setting-kinds.js";
import { definePlugin } from "../plugin.js";
import { speech } from "../speech/plugin.js";

/** Shows devices in Home Assistant, if the settings name its broker. Retries until the broker answers. */
export const homeAssistant = definePlugin({
	name: "home-assistant",
	settings: inGroup("Home Assistant", {
		homeAssistant: setting(url(["mqtt:", "mqtts:"]), "URL of Home Assistant's MQTT broker, with the user name"),
		homeAssistantPassword: setting(PASSWORD, "Password for homeAssistant"),
		homeAssistantCa: setting(FILE, "CA certificates (PEM) for homeAssistant"),
	}),
	setup: async (gateway): Promise<void> => {
		const { log, limitedLog, settings } = gateway;
		const { homeAssistant: url, homeAssistantPassword: password, homeAssistantCa: ca } = settings;
		if (url === undefined) {
			return;
		}
		const [{ showInHomeAssistant }, { readPem }] = await Promise.all([
			import("./home-assistant.js"),
			import("../config/tls-files.js"),
		]);
		const close = showInHomeAssistant(gateway.servers, {
			url,
			password,
			ca: ca === undefined ? undefined : readPem("homeAssistantCa", ca),
			gatewayName: gateway.key.derive("home-assistant").slice(0, 16),
			announcements: gateway.use(speech).voice?.announcements,
			info: (message) => log.info(message),
			warn: (details, message) => limitedLog.warn("home-assistant", details, message),
		});
		gateway.on("close", close);
	},
});
