import type { Tool } from "@modelcontextprotocol/server";
import type { DeviceTool } from "../servers/device.js";
import { DeviceError } from "../servers/errors.js";
import { isUserOnly, type KnownDevice } from "../servers/known-device.js";
import type { KnownDevices } from "../servers/registry.js";
import type { Access } from "./access.js";
import { aliasIn, findTool, listedTools, type Naming } from "./tool-listing.js";

/** A tool that a host named, and the device that has it. */
export interface FoundTool {
	readonly known: KnownDevice;
	readonly tool: DeviceTool;
}

export interface ToolScopeOptions {
	/** The same for hosts with the same rights, on the same path. */
	readonly key: string;
	readonly access: Access;
	/** Alias or id: only this device's tools. It may come later. */
	readonly device: string | undefined;
	/** How the tools of a single device are named. */
	readonly singleNaming: Exclude<Naming, "prefixed">;
}

/** The tools that a host sees: those of the devices it may reach, under names that do not collide. */
export class ToolScope {
	readonly #devices: KnownDevices;
	readonly #options: ToolScopeOptions;
	#tools: readonly Tool[] = [];
	#version = -1;

	constructor(devices: KnownDevices, options: ToolScopeOptions) {
		this.#devices = devices;
		this.#options = options;
	}

	/** The same for hosts with the same rights, on the same path. */
	get key(): string {
		return this.#options.key;
	}

	/** Whether there is a device in it. */
	get hasDevice(): boolean {
		return this.#reachable().length > 0;
	}

	/** Whether every host sees the same: then the list may be kept by caches that hosts share. */
	get isPublic(): boolean {
		const { principal, devices, userTools } = this.#options.access;
		return principal === "local" && devices === undefined && userTools === false;
	}

	/** The list: devices by alias, each with its own order. The same array until something in it changes. */
	get tools(): readonly Tool[] {
		if (this.#version !== this.#devices.version) {
			this.#version = this.#devices.version;
			const reachable = this.#reachable();
			const naming = this.#namingFor(reachable);
			const tools = reachable.flatMap((known) => listedTools(known, naming, this.#allowsUserTools(known)));
			if (tools.length !== this.#tools.length || tools.some((tool, index) => tool !== this.#tools[index])) {
				this.#tools = tools;
			}
		}
		return this.#tools;
	}

	/**
	 * The tool of this name. A name with an alias in front works in every scope; one without it where there is one device.
	 *
	 * @throws DeviceError "unknown-tool", also for a tool that the host may not call
	 */
	find(name: string): FoundTool {
		const reachable = this.#reachable();
		const only = reachable.length === 1 ? reachable[0] : undefined;
		const named = this.#devices.find(aliasIn(name) ?? "");
		const found =
			(only && foundTool(only, findTool(only, "own", name) ?? findTool(only, "portable", name))) ??
			(named && this.#reaches(named) ? foundTool(named, findTool(named, "prefixed", name)) : undefined);
		if (found === undefined || (isUserOnly(found.tool) && !this.#allowsUserTools(found.known))) {
			throw new DeviceError("unknown-tool", `Unknown tool: ${name}`);
		}
		return found;
	}

	#reachable(): readonly KnownDevice[] {
		const { access, device } = this.#options;
		if (device === undefined && access.devices === undefined) {
			return this.#devices.all;
		}
		const candidates = device === undefined ? this.#devices.all : [this.#devices.find(device)];
		return candidates.filter((known) => known !== undefined && this.#reaches(known)) as KnownDevice[];
	}

	#reaches(known: KnownDevice): boolean {
		const { access, device } = this.#options;
		return access.devices?.has(known.id) !== false && (device === undefined || this.#devices.find(device) === known);
	}

	#namingFor(reachable: readonly KnownDevice[]): Naming {
		return reachable.length === 1 ? this.#options.singleNaming : "prefixed";
	}

	#allowsUserTools({ id }: KnownDevice): boolean {
		const { userTools } = this.#options.access;
		return typeof userTools === "boolean" ? userTools : userTools.has(id);
	}
}

function foundTool(known: KnownDevice, tool: DeviceTool | undefined): FoundTool | undefined {
	return tool && { known, tool };
}
