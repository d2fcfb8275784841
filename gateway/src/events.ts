import { EventEmitter } from "node:events";
import type { CallRecord, Gateway } from "./gateway.js";
import type { DeviceHub } from "./servers/device-hub.js";

/** Something that an operator may want to see as it happens. Arguments and results of calls are the host's affair. */
export type GatewayEvent = {
	/** ISO 8601. */
	readonly time: string;
	/** The device's id. */
	readonly device: string;
} & (
	| { readonly type: "connected"; readonly transport: string }
	| { readonly type: "disconnected"; readonly reason: string }
	| { readonly type: "notification"; readonly method: string; readonly params: Readonly<Record<string, unknown>> }
	| ({ readonly type: "call" } & Omit<CallRecord, "deviceId">)
);

interface Events {
	event: [event: GatewayEvent];
}

/** What happens at the gateway, for `/events` and the log. */
export class GatewayEvents extends EventEmitter<Events> {
	constructor(hub: DeviceHub, gateway: Gateway) {
		super();
		// A listener for every operator who watches.
		this.setMaxListeners(0);
		hub.on("connected", (device) => {
			const { deviceId, transport } = device.identity;
			this.#emit({ device: deviceId, type: "connected", transport });
			device.on("notification", (method, params) =>
				this.#emit({ device: deviceId, type: "notification", method, params }),
			);
		});
		hub.on("disconnected", (device, reason) =>
			this.#emit({ device: device.identity.deviceId, type: "disconnected", reason }),
		);
		gateway.on("call", ({ deviceId, ...call }) => this.#emit({ device: deviceId, type: "call", ...call }));
	}

	#emit(event: WithoutTime<GatewayEvent>): void {
		this.emit("event", { time: new Date().toISOString(), ...event } as GatewayEvent);
	}
}

type WithoutTime<T> = T extends unknown ? Omit<T, "time"> : never;
