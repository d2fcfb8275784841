import { LRUCache } from "lru-cache";

/** What has become of firmware that a device was offered. */
export interface FirmwareUpdate {
	/** The device's id. */
	readonly device: string;
	/** "confirmed": the device runs it. "rolled-back": it was downloaded, and the device runs what it ran before. */
	readonly step: "offered" | "downloaded" | "confirmed" | "rolled-back";
	readonly version: string;
}

/** Devices whose update is followed. */
const MAX_FOLLOWED = 10_000;

/** Follows devices' updates by what they ask the gateway. A device that asks twice in the same state is told of once. */
export class FirmwareUpdates {
	readonly #tell: (update: FirmwareUpdate) => void;
	/** By device: the version that it was offered, the one it had, and whether it has downloaded the new one since. */
	readonly #offers = new LRUCache<string, { version: string; from: string; downloaded: boolean }>({
		max: MAX_FOLLOWED,
	});

	constructor(tell: (update: FirmwareUpdate) => void) {
		this.#tell = tell;
	}

	/** A device says which version it runs. */
	running(device: string, version: string): void {
		const offer = this.#offers.get(device);
		if (offer?.version === version) {
			this.#offers.delete(device);
			this.#tell({ device, step: "confirmed", version });
		} else if (offer?.downloaded && offer.from === version) {
			offer.downloaded = false;
			this.#tell({ device, step: "rolled-back", version: offer.version });
		}
	}

	/** A device that runs one version is offered another. */
	offered(device: string, version: string, from: string): void {
		if (this.#offers.get(device)?.version !== version) {
			this.#offers.set(device, { version, from, downloaded: false });
			this.#tell({ device, step: "offered", version });
		}
	}

	/** A device has downloaded what it was offered. */
	downloaded(device: string): void {
		const offer = this.#offers.get(device);
		if (offer !== undefined) {
			offer.downloaded = true;
			this.#tell({ device, step: "downloaded", version: offer.version });
		}
	}
}
