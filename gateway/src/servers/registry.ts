import { EventEmitter } from "node:events";
import { DeviceAliases } from "./aliases.js";
import type { Device, DeviceTool } from "./device.js";
import type { DeviceHub } from "./device-hub.js";
import { Introductions } from "./discovery.js";
import type { Board, DeviceRecord, KnownDevice } from "./known-device.js";
import { DeviceFiles } from "./store.js";

export interface KnownDevicesOptions {
	/** Where records are kept. Default: nowhere, devices are forgotten with the process. */
	readonly folder?: string;
	/** Aliases by device id, for those that shall not have the default one. */
	readonly aliases?: ReadonlyMap<string, string>;
	/** Devices asked for their tools at the same time. Default 64: thousands may connect at once after a power cut. */
	readonly introductions?: number;
	/** Devices that may be known. Default 10,000. A new one beyond is sent away. */
	readonly maxDevices?: number;
	/** Hears of what went wrong and is no failure of anybody's call. */
	readonly warn: (message: string) => void;
}

interface Events {
	/** The tools that hosts see may be others now: {@link KnownDevices.version} has changed. */
	toolsChanged: [];
	/** A device can be called. */
	available: [device: KnownDevice];
	/** A device that could be called is away. */
	away: [device: KnownDevice];
}

const LIST_CHANGED = "notifications/tools/list_changed";

/**
 * Every device the gateway has met, with its tools, whether it is connected or away. A device that connects is asked
 * who it is and what it can do, and asked again when it says that its tools have changed.
 */
export class KnownDevices extends EventEmitter<Events> {
	readonly #options: KnownDevicesOptions;
	readonly #files: DeviceFiles | undefined;
	readonly #introductions: Introductions;
	readonly #hub: DeviceHub;
	readonly #aliases: DeviceAliases;
	readonly #byId = new Map<string, KnownDevice>();
	/** Follows a device from the beginning of its session to the end. */
	readonly #meet = (device: Device): void => {
		device.on("notification", (method) => {
			if (method === LIST_CHANGED) {
				void this.#introductions.ask(device);
			}
		});
		device.once("closed", () => this.#left(device));
		void this.#introductions.ask(device);
	};
	#sorted: readonly KnownDevice[] | undefined;
	#version = 0;

	private constructor(hub: DeviceHub, options: KnownDevicesOptions) {
		super();
		this.#hub = hub;
		this.#options = options;
		this.#aliases = new DeviceAliases(options.aliases);
		this.#files = options.folder === undefined ? undefined : new DeviceFiles(options.folder, options.warn);
		this.#introductions = new Introductions({
			concurrency: options.introductions ?? 64,
			boardOf: (device) => this.#knownIn(device)?.board,
			onLearned: (device, board, tools) => this.#learn(device, board, tools),
			warn: options.warn,
		});
	}

	/**
	 * Reads what is on disk, and follows the devices of a hub from then on.
	 *
	 * Rejects with a RangeError when an alias cannot be used, and when the folder cannot.
	 */
	static async open(hub: DeviceHub, options: KnownDevicesOptions): Promise<KnownDevices> {
		const devices = new KnownDevices(hub, options);
		for (const record of (await devices.#files?.load()) ?? []) {
			const alias = devices.#aliases.assign(record.id, record.board.name, record.alias);
			devices.#put({ ...record, alias, device: undefined });
		}
		hub.on("connected", devices.#meet);
		hub.devices.forEach(devices.#meet);
		return devices;
	}

	/** Counts up whenever a device was added or removed, or has other tools or another alias. */
	get version(): number {
		return this.#version;
	}

	get(id: string): KnownDevice | undefined {
		return this.#byId.get(id);
	}

	/** By alias, else by id. */
	find(name: string): KnownDevice | undefined {
		return this.#byId.get(this.#aliases.owner(name) ?? name);
	}

	/** All of them, by alias. */
	get all(): readonly KnownDevice[] {
		this.#sorted ??= [...this.#byId.values()].sort((a, b) => (a.alias < b.alias ? -1 : 1));
		return this.#sorted;
	}

	/**
	 * Forgets a device and its tools.
	 *
	 * @returns whether it was known
	 * @throws Error when it is connected: it would be known again at once
	 */
	forget(name: string): boolean {
		const known = this.find(name);
		if (known === undefined) {
			return false;
		}
		if (known.device !== undefined) {
			throw new Error(`${known.alias} is connected: unplug it before it is forgotten`);
		}
		this.#byId.delete(known.id);
		this.#aliases.release(known.id, known.alias);
		this.#files?.remove(known.id);
		this.#toolsChanged();
		return true;
	}

	/** Meets no more devices, and settles when everything is on disk. */
	async close(): Promise<void> {
		this.#introductions.close();
		this.#hub.off("connected", this.#meet);
		for (const known of this.#byId.values()) {
			if (known.device !== undefined) {
				this.#files?.save({ ...recordOf(known), lastSeen: Date.now() });
			}
		}
		await this.#files?.flush();
	}

	/** The record of a device, where that is of this very session. */
	#knownIn(device: Device): KnownDevice | undefined {
		const known = this.#byId.get(device.identity.deviceId);
		return known?.device === device ? known : undefined;
	}

	#learn(device: Device, board: Board, tools: readonly DeviceTool[]): void {
		const { deviceId: id } = device.identity;
		const before = this.#byId.get(id);
		if (before === undefined && this.#byId.size >= (this.#options.maxDevices ?? 10_000)) {
			this.#introductions.sendAway(device, "more devices than the gateway may know: forget some");
			return;
		}
		const sameTools = before !== undefined && JSON.stringify(before.tools) === JSON.stringify(tools);
		const known: KnownDevice = {
			id,
			alias: this.#aliases.assign(id, board.name, before?.alias),
			board,
			// The same array as before, as far as it says the same: what is made from it need not be made anew.
			tools: sameTools ? before.tools : tools,
			lastSeen: before?.device === device ? before.lastSeen : Date.now(),
			device,
		};
		this.#put(known);
		if (!sameTools || JSON.stringify(before.board) !== JSON.stringify(board)) {
			this.#files?.save(recordOf(known));
		}
		if (!sameTools) {
			this.#toolsChanged();
		}
		if (before?.device !== device) {
			this.emit("available", known);
		}
	}

	#left(device: Device): void {
		const known = this.#knownIn(device);
		if (known === undefined) {
			return;
		}
		const away = { ...known, lastSeen: Date.now(), device: undefined };
		this.#put(away);
		this.#files?.save(recordOf(away));
		this.emit("away", away);
	}

	#put(known: KnownDevice): void {
		this.#byId.set(known.id, known);
		this.#sorted = undefined;
	}

	#toolsChanged(): void {
		this.#version += 1;
		this.#sorted = undefined;
		this.emit("toolsChanged");
	}
}

function recordOf({ id, alias, board, tools, lastSeen }: KnownDevice): DeviceRecord {
	return { id, alias, board, tools, lastSeen };
}
