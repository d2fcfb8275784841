import type { ServerIdentity } from "xs-mcp-manager/core";
import { definePlugin } from "../plugin.js";

/** Serves the console's page, and what it shows. */
export const consolePage = definePlugin({
	name: "console",
	setup: async (gateway): Promise<void> => {
		const [{ readConsole }, { addConsolePage, addConsoleRoutes }] = await Promise.all([
			import("./console-files.js"),
			import("./console-routes.js"),
		]);
		const files = readConsole(gateway.consoleFolder);
		if (files !== undefined) {
			addConsolePage(gateway, files);
			gateway.on("started", () => {
				gateway.urls.console = new URL("/", gateway.urls.clients).href;
			});
		}
		addConsoleRoutes(gateway);
	},
});

/** Serves devices, events and metrics to the operator, and logs events. */
export const operator = definePlugin({
	name: "operator",
	setup: async (gateway): Promise<void> => {
		const { gatewayEvents, addDeviceRoutes, addHealthRoute, addOperatorRoutes } = await import("./operator-routes.js");
		const { servers, limitedLog, log } = gateway;
		const events = gatewayEvents(gateway);
		if (log.isLevelEnabled("debug")) {
			events.on("event", ({ type, time: _, ...details }) => {
				if (type === "notification" || type === "call") {
					log.debug(details, type);
				}
			});
		}
		gateway.updates.on("update", ({ device, step, version }) => {
			const { alias } = servers.find(device) ?? {};
			log[step === "rolled-back" ? "warn" : "info"]({ device, alias, step, version }, "firmware");
		});
		servers.on("rejected", (description) => limitedLog.warn("device", {}, `rejected: ${description}`));
		// A session of another gateway is in that one's log; the manager logs those of configured servers.
		const logSession = (
			{ id: device, configured, gateway }: ServerIdentity,
			details: object,
			message: string,
		): void => {
			if (!configured) {
				log[gateway === undefined ? "info" : "debug"]({ device, ...(gateway && { gateway }), ...details }, message);
			}
		};
		servers.on("connected", (_server, { identity }) =>
			logSession(identity, { transport: identity.transport }, "device connected"),
		);
		servers.on("disconnected", (_server, { identity }, reason) =>
			logSession(identity, { reason }, "device disconnected"),
		);
		addHealthRoute(gateway);
		addOperatorRoutes(gateway, events);
		addDeviceRoutes(gateway);
	},
});
