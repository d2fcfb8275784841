import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { type FileHandle, readdir } from "node:fs/promises";
import { join } from "node:path";
import { LRUCache } from "lru-cache";
import { ConfigurationError } from "../../config/configuration-error.js";
import { isNewer, isVersion, readIdentity } from "../../firmware.js";
import { HttpError } from "../../http/http-error.js";
import type { DeviceKey } from "../device-key.js";
import { openFile } from "./firmware-route.js";
import type { FirmwareUpdates } from "./firmware-updates.js";

/** The family's path for downloads of firmware. */
export const DOWNLOAD_PATH = "/xiaozhi/ota/download";

/** Limit of cached digests, each valid until its image changes. */
const MAX_DIGESTS = 64;

/** Bytes before the identity in images of chips (src/hardware/drivers/esp32-updater.ts) and of virtual devices. */
const IDENTITY_AT = [288, 12];
const HEAD_BYTES = 512;

const FILE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,200}\.bin$/;

/** Firmware for one device, as the bootstrap offers it and the device's own tool takes it. */
export interface FirmwareOffer {
	readonly version: string;
	/** The download URL, with a key for this device and file. */
	readonly url: string;
	/** SHA-256 of the image, in hexadecimal digits. */
	readonly sha256: string;
	/** The text of the file MODEL_VERSION.bin.sig beside the image, if it exists. */
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

/** The firmware for devices. */
export type FirmwareOffers = ReturnType<typeof openFirmware>;

/**
 * Opens the folder with firmware for devices: MODEL_VERSION.bin. It is read again with each request, so that images can come and go.
 *
 * @throws ConfigurationError if the folder cannot be read
 */
export function openFirmware(path: string, key: DeviceKey, updates: FirmwareUpdates) {
	/** Digests by file, size and time of the last change. */
	const digests = new LRUCache<string, Promise<string>>({ max: MAX_DIGESTS });
	try {
		readdirSync(path);
	} catch (error) {
		throw new ConfigurationError([`firmwareFolder: ${(error as Error).message}`], { cause: error });
	}

	/** Finds firmware for a model: of the wanted version, or else the newest, if that is newer or cannot be compared. */
	const find = async ({ board: model, version, wanted }: FirmwareRequest) => {
		const images = (await readdir(path, { withFileTypes: true }))
			.filter((entry) => entry.isFile() || entry.isSymbolicLink())
			.map(({ name }) => name)
			.filter((file) => FILE.test(file) && file.startsWith(`${model}_`))
			.map((file) => ({ file, version: file.slice(model.length + 1, -".bin".length) }))
			.filter((image) => isVersion(image.version))
			.sort((one, other) => Number(isNewer(other.version, one.version)) - Number(isNewer(one.version, other.version)));
		const [newest] = images;
		if (wanted !== undefined) {
			return images.find((image) => image.version === wanted);
		}
		return newest !== undefined && (!isVersion(version) || isNewer(newest.version, version)) ? newest : undefined;
	};

	/** Opens an image. Rejects if it does not exist. */
	const open = async (file: string): Promise<FileHandle> => {
		if (!FILE.test(file)) {
			throw new Error("not the name of a firmware image");
		}
		return await openFile(join(path, file));
	};

	/** Returns the digest and signature of an image, and the version that it has in itself; that is undefined for firmware of another kind. */
	const examine = async (file: string) => {
		const image = await open(file);
		try {
			const head = new Uint8Array(HEAD_BYTES);
			await image.read(head, 0, HEAD_BYTES, 0);
			const identity = IDENTITY_AT.map((at) => readIdentity(head, at)).find((each) => each !== undefined);
			const { size, mtimeMs } = await image.stat();
			const of = `${file} ${size} ${mtimeMs}`;
			const digest = digests.get(of) ?? sha256Of(image);
			digests.set(of, digest);
			// One that failed may succeed the next time.
			digest.catch(() => digests.delete(of));
			const sha256 = await digest;
			const signed = await openFile(join(path, `${file}.sig`)).catch(() => undefined);
			const signature = await signed?.readFile("utf8").finally(() => signed.close());
			const proof = { sha256, ...(signature !== undefined && { signature: signature.trim() }) };
			return { version: identity?.version, proof };
		} finally {
			await image.close();
		}
	};

	return {
		open,
		/**
		 * Offers a device firmware; undefined without a suitable image. Rejects if the folder cannot be read, or the image is another
		 * version than its name says: the device would not install it.
		 */
		async offer(request: FirmwareRequest): Promise<FirmwareOffer | undefined> {
			const { deviceId, board, version, url } = request;
			const image = board === "" ? undefined : await find(request);
			if (image === undefined) {
				return undefined;
			}
			const { version: own = image.version, proof } = await examine(image.file);
			if (own !== image.version) {
				throw new HttpError(409, "busy", `${image.file} has version ${own} in it: rename it`);
			}
			const query = new URLSearchParams({ device: deviceId, key: key.derive("firmware", image.file, deviceId) });
			updates.offered(deviceId, image.version, version);
			return { version: image.version, url: `${url}${DOWNLOAD_PATH}/${image.file}?${query}`, ...proof };
		},
	};
}

async function sha256Of(image: FileHandle): Promise<string> {
	const hash = createHash("sha256");
	for await (const piece of image.createReadStream({ autoClose: false, start: 0 })) {
		hash.update(piece as Buffer);
	}
	return hash.digest("hex");
}
