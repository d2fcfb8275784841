import { definePlugin, inGroup, oneOf, setting, text, url } from "../../plugin.js";
import type { DeviceBindings } from "./device-bindings.js";

/** Tells devices where to connect, and binds them to this gateway. */
export const bootstrap = definePlugin({
	name: "bootstrap",
	settings: inGroup("How devices find the gateway", {
		bootstrap: setting(
			oneOf("mode", ["open", "approve", "closed"]),
			"New devices at /xiaozhi/ota/: open (all), approve (you confirm each code), closed (none)",
			"closed",
		),
		websocketUrl: setting(url(["ws:", "wss:"]), "WebSocket URL in the bootstrap; required behind a reverse proxy"),
		mqttEndpoint: setting(text("host:port"), "MQTT host and port in the bootstrap; required behind a reverse proxy"),
	}),
	setup: async (gateway): Promise<DeviceBindings> => {
		const { openBootstrap } = await import("./bootstrap-routes.js");
		return openBootstrap(gateway);
	},
});
