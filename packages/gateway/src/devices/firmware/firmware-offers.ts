import { HttpError } from "../../http/http-error.js";
import type { DeviceKey } from "../device-key.js";
import type { FirmwareFolder } from "./firmware-folder.js";
import type { FirmwareUpdates } from "./firmware-updates.js";

/** The family's path for downloads of firmware. */
export const DOWNLOAD_PATH = "/xiaozhi/ota/download";

/** Firmware for one device, as the bootstrap offers it and the device's own tool takes it. */
export interface FirmwareOffer {
	readonly version: string;
	/** The download URL, with a key for this device and file. */
	readonly url: string;
	readonly sha256: string;
	readonly signature?: string;
}

interface FirmwareRequest {
	readonly deviceId: string;
	/** Its model. */
	readonly board: string;
	/** The version that it runs. */
	readonly version: string;
	/** The URL at which it reaches the gateway over HTTP, without a path. */
	readonly url: string;
	/** The version to be offered. Default: the newest, if it is newer than the device's. */
	readonly wanted?: string | undefined;
}

/** Offers devices the images of the folder with firmware. */
export class FirmwareOffers {
	readonly folder: FirmwareFolder | undefined;
	readonly #key: DeviceKey;
	readonly #updates: FirmwareUpdates;

	/** @param folder undefined: no firmware is offered */
	constructor(folder: FirmwareFolder | undefined, key: DeviceKey, updates: FirmwareUpdates) {
		this.folder = folder;
		this.#key = key;
		this.#updates = updates;
	}

	/**
	 * Firmware for a device; undefined without a suitable image. Rejects if the folder cannot be read, or the image is another
	 * version than its name says: the device would not install it.
	 */
	async offer({ deviceId, board, version, url, wanted }: FirmwareRequest): Promise<FirmwareOffer | undefined> {
		const image = board === "" ? undefined : await this.folder?.find(board, { newerThan: version, wanted });
		if (this.folder === undefined || image === undefined) {
			return undefined;
		}
		const identity = await this.folder.identityOf(image.file);
		if (identity !== undefined && identity.version !== image.version) {
			throw new HttpError(409, "busy", `${image.file} has version ${identity.version} in it: rename it`);
		}
		const proof = await this.folder.proofOf(image.file);
		const query = new URLSearchParams({ device: deviceId, key: this.#key.derive("firmware", image.file, deviceId) });
		this.#updates.offered(deviceId, image.version, version);
		return { version: image.version, url: `${url}${DOWNLOAD_PATH}/${image.file}?${query}`, ...proof };
	}
}
