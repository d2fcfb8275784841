import { join } from "node:path";
import { definePlugin, inGroup, list, setting } from "../plugin.js";
import type { EventService } from "./event-service.js";

/** Records events of devices, and serves them to clients. A cluster has its own log of them. */
export const events = definePlugin({
	name: "events",
	settings: inGroup("Devices and tools that clients see", {
		webhookHosts: setting(
			list("host:port"),
			"Hosts of webhooks (events) that may be at private addresses, and use http",
			[],
		),
	}),
	setup: async (gateway): Promise<EventService> => {
		const [{ EventLog }, { makeEventService }, { recordEvents }] = await Promise.all([
			import("./event-log.js"),
			import("./event-service.js"),
			import("./record-events.js"),
		]);
		const { settings, servers, saves, updates } = gateway;
		const folder = settings.cluster === undefined ? join(settings.stateFolder, "events") : undefined;
		const log = await EventLog.open(folder, (error) => saves.note("log", error));
		recordEvents(log, servers, updates);
		gateway.on("close", () => log.close());
		return makeEventService(gateway, log);
	},
});
