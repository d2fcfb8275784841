import { join } from "node:path";
import { inGroup, list, setting } from "../config/setting-kinds.js";
import { definePlugin } from "../plugin.js";
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
		const [{ EventLog }, { EventService }, { recordEvents }, { accessOf }] = await Promise.all([
			import("./event-log.js"),
			import("./event-service.js"),
			import("./record-events.js"),
			import("../oauth/request-guard.js"),
		]);
		const { settings, servers, tokens, saves, resolve } = gateway;
		const { stateFolder, userTools, webhookHosts: trustedHosts, microphones } = settings;
		const folder = settings.cluster === undefined ? join(stateFolder, "events") : undefined;
		const log = await EventLog.open(folder, (error) => saves.note("log", error));
		recordEvents(log, servers, gateway.updates);
		const onWarning = (message: string): void => gateway.limitedLog.warn("events", {}, message);
		const accessOfHolder = (holder: string) => {
			const token = tokens.current(holder);
			return token && accessOf(token.name, token, userTools, holder);
		};
		const service = new EventService({
			log,
			servers,
			resolve,
			microphones,
			trustedHosts,
			accessOf: accessOfHolder,
			onWarning,
		});
		gateway.on("close", () => service.close());
		return service;
	},
});
