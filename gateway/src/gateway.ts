import { EventEmitter } from "node:events";
import { join } from "node:path";
import type { Access } from "./clients/access.js";
import { type FoundTool, ToolScope, type ToolScopeOptions } from "./clients/catalog.js";
import type { CallOptions, CallResult } from "./servers/device.js";
import { DeviceCalls, type DeviceCallsOptions } from "./servers/device-calls.js";
import type { DeviceHub } from "./servers/device-hub.js";
import { DeviceError, type DeviceErrorCode } from "./servers/errors.js";
import { KnownDevices, type KnownDevicesOptions } from "./servers/registry.js";

export interface GatewayOptions extends Omit<DeviceCallsOptions, "warn">, Omit<KnownDevicesOptions, "folder" | "warn"> {
	/** Where the gateway keeps what outlives it. Default: nowhere. */
	readonly stateFolder?: string;
	/**
	 * How the tools of a device that is alone in a host's list are named: "own" as the device names them (default), or
	 * "portable", for hosts that take no dots. Several devices' names are portable always.
	 */
	readonly toolNames?: ToolScopeOptions["singleNaming"];
	/** Milliseconds for which changes are gathered before hosts are told. Default 250. */
	readonly changeDelay?: number;
}

/** What became of a call. */
export interface CallRecord {
	readonly principal: string;
	readonly deviceId: string;
	/** As the device names it. */
	readonly tool: string;
	/** Milliseconds, waiting included. */
	readonly duration: number;
	/** "failed": the tool ran and said so. "refused": the device answered with a JSON-RPC error. */
	readonly outcome: "ok" | "failed" | "refused" | DeviceErrorCode;
}

interface Events {
	/** The tools of some host may be others: once for a burst of changes. */
	toolsChanged: [];
	/** A call has ended. */
	call: [record: CallRecord];
	/** Something went wrong that is no failure of anybody's call. */
	warning: [message: string];
}

/** Scopes that are kept so that their lists need not be made anew for each request. */
const MAX_SCOPES = 1_000;

/** Between devices and hosts: knows the devices, says which tools a host sees, and calls them. */
export class Gateway extends EventEmitter<Events> {
	readonly #options: GatewayOptions;
	readonly #scopes = new Map<string, ToolScope>();
	#devices!: KnownDevices;
	#calls!: DeviceCalls;
	#changeTimer: NodeJS.Timeout | undefined;

	private constructor(options: GatewayOptions) {
		super();
		// One listener for each session of a host.
		this.setMaxListeners(0);
		this.#options = options;
	}

	/**
	 * Follows the devices of a hub. The hub and what brings devices into it stay the caller's to close.
	 *
	 * Rejects with a RangeError when an alias cannot be used, and when the state folder cannot.
	 *
	 * @param onWarning hears of warnings from the start, those about damaged files included
	 */
	static async open(
		hub: DeviceHub,
		options: GatewayOptions = {},
		onWarning?: (message: string) => void,
	): Promise<Gateway> {
		const gateway = new Gateway(options);
		if (onWarning !== undefined) {
			gateway.on("warning", onWarning);
		}
		const { stateFolder } = options;
		const warn = (message: string): void => void gateway.emit("warning", message);
		const folder = stateFolder === undefined ? {} : { folder: join(stateFolder, "devices") };
		gateway.#devices = await KnownDevices.open(hub, { ...options, ...folder, warn });
		gateway.#calls = new DeviceCalls(gateway.#devices, { ...options, warn });
		gateway.#devices.on("toolsChanged", () => gateway.#toolsChanged());
		return gateway;
	}

	get devices(): KnownDevices {
		return this.#devices;
	}

	/** The tools that a host sees; of one device where that is given, by alias or id. */
	scope(access: Access, device?: string): ToolScope {
		const key = scopeKey(access, device);
		const scope =
			this.#scopes.get(key) ??
			new ToolScope(this.#devices, { key, access, device, singleNaming: this.#options.toolNames ?? "own" });
		// The one that was used longest ago goes first.
		this.#scopes.delete(key);
		this.#scopes.set(key, scope);
		if (this.#scopes.size > MAX_SCOPES) {
			this.#scopes.delete(this.#scopes.keys().next().value as string);
		}
		return scope;
	}

	/** Calls a tool for somebody. Settles as {@link DeviceCalls.call} does. */
	async call(principal: string, { known, tool }: FoundTool, args: object, options?: CallOptions): Promise<CallResult> {
		const start = performance.now();
		let outcome: CallRecord["outcome"] = "refused";
		try {
			const result = await this.#calls.call(known, tool, args, options);
			outcome = result.isError ? "failed" : "ok";
			return result;
		} catch (error) {
			outcome = error instanceof DeviceError ? error.code : "refused";
			throw error;
		} finally {
			const duration = performance.now() - start;
			this.emit("call", { principal, deviceId: known.id, tool: tool.name, duration, outcome });
		}
	}

	/** Refuses the calls that wait, and settles when everything is on disk. */
	async close(): Promise<void> {
		clearTimeout(this.#changeTimer);
		this.#calls.close();
		await this.#devices.close();
	}

	/** Tells once of what comes in a burst: thousands of devices may come back at the same time. */
	#toolsChanged(): void {
		this.#changeTimer ??= setTimeout(() => {
			this.#changeTimer = undefined;
			this.emit("toolsChanged");
		}, this.#options.changeDelay ?? 250);
	}
}

function scopeKey({ principal, devices, userTools }: Access, device: string | undefined): string {
	const list = (ids: ReadonlySet<string>): string[] => [...ids].sort();
	const tools = typeof userTools === "boolean" ? userTools : list(userTools);
	return JSON.stringify([principal, device ?? null, devices ? list(devices) : null, tools]);
}
