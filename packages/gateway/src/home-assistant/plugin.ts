import { definePlugin, FILE, inGroup, PASSWORD, setting, url } from "../plugin.js";

/** Shows devices in Home Assistant, if the settings name its broker. Retries until the broker answers. */
export const homeAssistant = definePlugin({
	name: "home-assistant",
	settings: inGroup("Home Assistant", {
		homeAssistant: setting(url(["mqtt:", "mqtts:"]), "URL of Home Assistant's MQTT broker, with the user name"),
		homeAssistantPassword: setting(PASSWORD, "Password for homeAssistant"),
		homeAssistantCa: setting(FILE, "CA certificates (PEM) for homeAssistant"),
	}),
	setup: async (gateway): Promise<void> => {
		if (gateway.settings.homeAssistant === undefined) {
			return;
		}
		const { showInHomeAssistant } = await import("./home-assistant.js");
		const close = showInHomeAssistant(gateway, gateway.settings.homeAssistant);
		gateway.on("close", close);
	},
});
