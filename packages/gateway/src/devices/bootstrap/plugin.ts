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
		const [{ addBindingRoutes, addBootstrapRoutes }, { BOOTSTRAP_PATHS }, { makeBindings }] = await Promise.all([
			import("./bootstrap-routes.js"),
			import("./bootstrap-answer.js"),
			import("./device-bindings.js"),
		]);
		const bindings = makeBindings(gateway);
		addBootstrapRoutes(gateway, bindings);
		addBindingRoutes(gateway.routes, bindings);
		gateway.on("started", () => {
			if (gateway.settings.bootstrap !== "closed") {
				gateway.urls.bootstrap = new URL(`${BOOTSTRAP_PATHS.ota}/`, gateway.urls.clients).href;
			}
		});
		return bindings;
	},
});
