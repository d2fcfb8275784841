import { inGroup, oneOf, setting, text, url } from "../../config/setting-kinds.js";
import { definePlugin } from "../../plugin.js";
import type { DeviceBindings, PendingBinding } from "./device-bindings.js";

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
		const [{ addBindingRoutes }, { addBootstrapRoutes }, { BOOTSTRAP_PATHS }, { DeviceBindings }] = await Promise.all([
			import("./binding-routes.js"),
			import("./bootstrap-routes.js"),
			import("./bootstrap-answer.js"),
			import("./device-bindings.js"),
		]);
		const { settings, key, log, tokens, shortLived: store, urls } = gateway;
		const { bootstrap: mode, maxDevices } = settings;
		const onPending = ({ code, deviceId, board, address }: PendingBinding): void =>
			log.info(
				{ device: deviceId, board, address },
				`a new device awaits approval; run: xs-mcp-gateway devices approve ${code}`,
			);
		const bindings = new DeviceBindings({ mode, tokens, key, maxDevices, store, onPending });
		addBootstrapRoutes(gateway, bindings);
		addBindingRoutes(gateway.routes, bindings);
		gateway.on("started", () => {
			if (mode !== "closed") {
				urls.bootstrap = new URL(`${BOOTSTRAP_PATHS.ota}/`, urls.clients).href;
			}
		});
		return bindings;
	},
});
