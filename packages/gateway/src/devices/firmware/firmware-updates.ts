import { EventEmitter } from "node:events";
import { LRUCache } from "lru-cache";
import type { Server, ServerRegistry } from "xs-mcp-manager/core";

/** The tool by which a device of the family installs firmware. It is user-only. */
export const UPGRADE_TOOL = "self.upgrade_firmware";

/** The outcome of firmware that was offered to a device, or that a client's call installed. */
export interface FirmwareUpdate {
	/** The device's id. */
	readonly device: string;
	/** "confirmed": the device runs it. "rolled-back": it was downloaded, but the device runs the previous version. */
	readonly step: "offered" | "downloaded" | "confirmed" | "rolled-back";
	/** The new version; undefined if it was rolled back and not offered by the gateway. */
	readonly version: string | undefined;
	/** The version that the device runs, once known. */
	readonly running?: string;
}

/** An update that is followed. */
interface Followed {
	/** The version that the device was offered. */
	readonly version: string | undefined;
	/** The previous version. */
	readonly from: string;
	/** Whether it has downloaded the new one since. */
	downloaded: boolean;
	/** Whether it has reported that it is installing firmware. */
	installing: boolean;
	/** Notifies the client whose call started the update. */
	onUpdate: ((update: FirmwareUpdate) => void) | undefined;
}

const MAX_FOLLOWED = 10_000;

/** Follows devices' updates by their requests to the gateway, and by the version with which they come online. */
export class FirmwareUpdates extends EventEmitter<{ update: [update: FirmwareUpdate] }> {
	/** The updates by device. */
	readonly #followed = new LRUCache<string, Followed>({ max: MAX_FOLLOWED });

	constructor(servers: ServerRegistry) {
		super();
		servers.on("online", ({ id, board }) => this.running(id, board.version));
		servers.on("state", ({ id, state }) => {
			const update = this.#followed.get(id);
			if (update === undefined || state === undefined) {
				return;
			}
			// A device that stops installing without a restart keeps its firmware: the image was rejected.
			if (update.installing && state !== "upgrading") {
				this.#followed.delete(id);
			}
			update.installing = state === "upgrading";
		});
	}

	/** A device has reported its version. */
	running(device: string, version: string): void {
		const update = this.#followed.get(device);
		if (update === undefined) {
			return;
		}
		const isNew = update.version === undefined ? update.from !== version : update.version === version;
		if (isNew) {
			this.#followed.delete(device);
			this.#decide(update, { device, step: "confirmed", version, running: version });
		} else if (update.downloaded && update.from === version) {
			update.downloaded = false;
			this.#decide(update, { device, step: "rolled-back", version: update.version, running: version });
		}
	}

	/** A device that runs one version is offered another. Repeated requests in the same state are reported once. */
	offered(device: string, version: string, from: string): void {
		if (this.#followed.get(device)?.version !== version) {
			this.#follow(device, { version, from });
			this.emit("update", { device, step: "offered", version });
		}
	}

	/** A device has downloaded what it was offered. */
	downloaded(device: string): void {
		const update = this.#followed.get(device);
		if (update !== undefined) {
			update.downloaded = true;
			this.emit("update", { device, step: "downloaded", version: update.version });
		}
	}

	/**
	 * A client's call makes a device install firmware, from the gateway or elsewhere.
	 *
	 * @param onUpdate called once, when the device returns with the new or the previous firmware
	 */
	started({ id, board, state }: Server, onUpdate: (update: FirmwareUpdate) => void): void {
		const offered = this.#followed.get(id);
		const update = offered ?? this.#follow(id, { version: undefined, from: board.version });
		update.downloaded ||= offered === undefined;
		update.installing = state === "upgrading";
		update.onUpdate = onUpdate;
	}

	#follow(device: string, { version, from }: Pick<Followed, "version" | "from">): Followed {
		const update = { version, from, downloaded: false, installing: false, onUpdate: undefined };
		this.#followed.set(device, update);
		return update;
	}

	#decide(followed: Followed, update: FirmwareUpdate): void {
		this.emit("update", update);
		followed.onUpdate?.(update);
		followed.onUpdate = undefined;
	}
}
