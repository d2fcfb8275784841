import { join } from "node:path";
import { definePlugin, inGroup, integer, setting } from "../plugin.js";
import type { AuditLog } from "./audit-log.js";
import type { DeviceStatuses } from "./device-status.js";
import type { History } from "./history.js";

export interface Kept {
	readonly statuses: DeviceStatuses;
	/** Measurements and states of devices. Undefined: off. */
	readonly history: History | undefined;
	/** Calls and changes. Undefined: off. */
	readonly audit: AuditLog | undefined;
}

/** Continues the history and the audit log that the state folder has, and serves them. */
export const history = definePlugin({
	name: "history",
	settings: inGroup("State and log", {
		historyBytes: setting(
			integer("bytes", 0, 1_073_741_824),
			"Disk space for the readings, states and log of each device; 0: off",
			1_048_576,
		),
		auditBytes: setting(
			integer("bytes", 0, 10_737_418_240),
			"Disk space for the log of calls and changes; 0: off",
			16_777_216,
		),
	}),
	setup: async (gateway): Promise<Kept> => {
		const [{ addHistoryRoutes, openAuditLog }, { followStatuses }, { keepHistory }] = await Promise.all([
			import("./audit-log.js"),
			import("./device-status.js"),
			import("./history.js"),
		]);
		const { servers, settings, saves, metrics } = gateway;
		const { stateFolder, historyBytes, auditBytes } = settings;
		const onSaved = (error?: Error): void => saves.note("log", error);
		const folder = join(stateFolder, "history");
		const statuses = followStatuses(servers);
		const history = historyBytes === 0 ? undefined : keepHistory(servers, statuses, folder, historyBytes, onSaved);
		const audit = auditBytes === 0 ? undefined : openAuditLog(join(stateFolder, "audit."), auditBytes, onSaved);
		gateway.on("close", () => history?.close());
		gateway.on("close", () => audit?.close());
		metrics.add("history_bytes", "Disk space of the history of devices", () => history?.bytes ?? 0);
		metrics.add("audit_bytes", "Disk space of the log of calls and changes", () => audit?.bytes ?? 0);
		const kept = { statuses, history, audit };
		addHistoryRoutes(gateway, kept);
		return kept;
	},
});
