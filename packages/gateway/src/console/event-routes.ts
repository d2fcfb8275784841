import { EventEmitter } from "node:events";
import type { CallRecord } from "xs-mcp-manager/core";
import type { FirmwareUpdate } from "../devices/firmware/firmware-updates.js";
import type { RunningGateway } from "../gateway.js";

/** An event for operators. Arguments and results of calls are not included. */
export type GatewayEvent = {
	/** ISO 8601. */
	readonly time: string;
	readonly device: string;
	/** Absent before the gateway has discovered the device. */
	readonly alias?: string;
} & (
	| { readonly type: "connected"; readonly transport: string }
	| { readonly type: "disconnected"; readonly reason: string }
	| { readonly type: "notification"; readonly method: string; readonly params: Readonly<Record<string, unknown>> }
	| { readonly type: "firmware"; readonly step: FirmwareUpdate["step"]; readonly version: string | undefined }
	| ({ readonly type: "call" } & Omit<CallRecord, "serverId">)
);

/** The gateway's events, for `/events` and the log. */
export type GatewayEvents = EventEmitter<{ event: [event: GatewayEvent] }>;

type WithoutTime<T> = T extends unknown ? Omit<T, "time"> : never;

/** Makes the gateway's events of those of its servers and their updates. */
export function gatewayEvents({ servers, updates }: RunningGateway): GatewayEvents {
	const events: GatewayEvents = new EventEmitter();
	// A listener for each operator who watches.
	events.setMaxListeners(0);
	const emit = ({ device, ...event }: WithoutTime<GatewayEvent>): void => {
		const { alias } = servers.find(device) ?? {};
		events.emit("event", { time: new Date().toISOString(), device, alias, ...event } as GatewayEvent);
	};
	const isWatched = (): boolean => events.listenerCount("event") > 0;
	servers.on("connected", ({ id: device }, { identity: { transport } }) =>
		emit({ device, type: "connected", transport }),
	);
	servers.on("disconnected", ({ id: device }, _session, reason) => emit({ device, type: "disconnected", reason }));
	servers.on(
		"notification",
		({ id: device }, method, params) => isWatched() && emit({ device, type: "notification", method, params }),
	);
	servers.on("call", (record) => {
		if (isWatched()) {
			const { serverId: device, ...call } = record;
			emit({ device, type: "call", ...call });
		}
	});
	updates.on("update", ({ device, step, version }) => emit({ device, type: "firmware", step, version }));
	return events;
}
