import { EventEmitter } from "node:events";
import type { CallRecord, ServerRegistry } from "xs-mcp-manager/core";
import type { FirmwareUpdate, FirmwareUpdates } from "../devices/firmware/firmware-updates.js";

/** An event for operators. Arguments and results of calls are not included. */
export type GatewayEvent = {
	/** ISO 8601. */
	readonly time: string;
	/** The device's id. */
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
export class GatewayEvents extends EventEmitter<{ event: [event: GatewayEvent] }> {
	readonly #servers: ServerRegistry;

	constructor(servers: ServerRegistry, updates: FirmwareUpdates) {
		super();
		this.#servers = servers;
		// A listener for each operator who watches.
		this.setMaxListeners(0);
		servers.on("connected", ({ id }, { identity: { transport } }) =>
			this.#emit({ device: id, type: "connected", transport }),
		);
		servers.on("disconnected", ({ id }, _session, reason) => this.#emit({ device: id, type: "disconnected", reason }));
		servers.on("notification", ({ id }, method, params) =>
			this.#emit({ device: id, type: "notification", method, params }),
		);
		servers.on("call", ({ serverId, ...call }) => this.#emit({ device: serverId, type: "call", ...call }));
		updates.on("update", ({ device, step, version }) => this.#emit({ device, type: "firmware", step, version }));
	}

	#emit({ device, ...event }: WithoutTime<GatewayEvent>): void {
		const { alias } = this.#servers.find(device) ?? {};
		const of = { time: new Date().toISOString(), device, alias };
		this.emit("event", { ...of, ...event } as GatewayEvent);
	}
}

type WithoutTime<T> = T extends unknown ? Omit<T, "time"> : never;
