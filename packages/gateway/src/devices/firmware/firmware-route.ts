import { createHash } from "node:crypto";
import { constants, readdirSync } from "node:fs";
import { type FileHandle, open, readdir } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { LRUCache } from "lru-cache";
import { isNewer, isVersion } from "xs-mcp-firmware/core/text/version";
import { readIdentity } from "xs-mcp-firmware/hardware/drivers/image-identity";
import * as z from "zod";
import { hasUserTools } from "../../config/access.js";
import type { RunningGateway } from "../../gateway.js";
import { GatewayError } from "../../gateway-error.js";
import { allow, deviceOf, readJsonAs } from "../../http/route.js";
import { ConfigurationError } from "../../plugin.js";
import type { DeviceKey } from "../device-key.js";
import type { FirmwareUpdates } from "./firmware-updates.js";

const FIRMWARE_REQUEST = z.strictObject({ version: z.string().min(1).max(64).optional() });

/**
 * Serves `POST /devices/NAME/firmware` with `{"version": …}` or `{}`: the parameters of the device's own install tool, for a
 * client that may call it, and `notes` for people. The image may hold secrets. `{}` in the answer: the folder has nothing newer.
 */
export function addFirmwareRoute(gateway: RunningGateway, firmware: FirmwareOffers | undefined): void {
	const { routes: app, servers, settings } = gateway;
	app.all("/devices/:device/firmware", allow("POST"), async (c) => {
		const server = deviceOf(c, servers);
		const { alias, id, board, connection } = server;
		if (!hasUserTools(c.var.admission.access, id)) {
			const how = "a token created with --allow-user-tools, or the setting userTools";
			throw new GatewayError("forbidden", `firmware of ${alias} requires ${how}`);
		}
		const wanted = await readJsonAs(FIRMWARE_REQUEST, "body", c.env.incoming, settings.maxBodyBytes);
		if (firmware === undefined) {
			throw new GatewayError("not-found", "the gateway has no firmware (setting firmwareFolder)");
		}
		const url = connection && gateway.urlFor(connection.identity);
		if (url === undefined) {
			const problem = connection ? "does not know the gateway's address: see publicUrl" : "is offline";
			throw new GatewayError("conflict", `${alias} ${problem}`);
		}
		const { name, version } = board;
		const offer = await firmware.offer({ deviceId: id, board: name, version, url, wanted: wanted.version });
		if (offer === undefined && wanted.version !== undefined) {
			throw new GatewayError("not-found", `no firmware ${wanted.version} for ${name} in firmwareFolder`);
		}
		const notes = offer && (await firmware.notesOf(name, offer.version));
		return c.json({ ...offer, ...(notes && { notes }) });
	});
}

/**
 * Opens a file for reading. Rejects if it is not a regular file: a pipe or a device could block one of the few file
 * threads forever.
 */
async function openFile(path: string): Promise<FileHandle> {
	const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
	if (!(await handle.stat()).isFile()) {
		await handle.close();
		throw new Error(`${path}: not a file`);
	}
	return handle;
}

/** Milliseconds without progress of a download after which the connection is cut. */
const STALL_TIME = 30_000;

/**
 * Sends an image, whose length must be known, to Node's response. Settles when it is sent, or the device is disconnected.
 * Rejects if the image cannot be read.
 */
export async function sendFirmware(image: FileHandle, response: ServerResponse, stallTime = STALL_TIME): Promise<void> {
	const { size } = await image.stat();
	response.setTimeout(stallTime, () => response.destroy());
	response.writeHead(200, { "Content-Type": "application/octet-stream", "Content-Length": size });
	try {
		await pipeline(image.createReadStream({ autoClose: false }), response);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "ERR_STREAM_PREMATURE_CLOSE") {
			throw error;
		}
	}
}

/** The family's path for downloads of firmware. */
export const DOWNLOAD_PATH = "/xiaozhi/ota/download";

/** Limit of cached digests, each valid until its image changes. */
const MAX_DIGESTS = 64;

/** Bytes before the identity in images of chips (src/hardware/drivers/esp32-updater.ts) and of virtual devices. */
const IDENTITY_AT = [288, 12];
const HEAD_BYTES = 512;

const FILE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,200}\.bin$/;

/** Maximum length of release notes, in characters. */
const MAX_NOTES = 2_000;

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

/** Firmware for one device, as the bootstrap offers it and the device's own tool takes it. */
export type FirmwareOffer = NonNullable<Awaited<ReturnType<FirmwareOffers["offer"]>>>;

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

	/** Reads a text file in the same folder. Returns undefined if it does not exist. */
	const readText = async (file: string): Promise<string | undefined> => {
		const opened = await openFile(join(path, file)).catch(() => undefined);
		return (await opened?.readFile("utf8").finally(() => opened.close()))?.trim();
	};

	/**
	 * Returns an image's SHA-256 in hexadecimal, the text of its MODEL_VERSION.bin.sig if that file exists, and its version, which
	 * is undefined for firmware of another kind.
	 */
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
			const signature = await readText(`${file}.sig`);
			const proof = { sha256, ...(signature !== undefined && { signature }) };
			return { version: identity?.version, proof };
		} finally {
			await image.close();
		}
	};

	return {
		open,
		/** Reads the release notes of an image from MODEL_VERSION.bin.txt; undefined if the file does not exist. */
		notesOf: async (model: string, version: string) =>
			(await readText(`${model}_${version}.bin.txt`))?.slice(0, MAX_NOTES),
		/**
		 * Offers a device firmware; undefined without a suitable image. Rejects if the folder cannot be read, or the image is another
		 * version than its name says: the device would not install it.
		 */
		async offer(request: FirmwareRequest) {
			const { deviceId, board, version, url } = request;
			const image = board === "" ? undefined : await find(request);
			if (image === undefined) {
				return undefined;
			}
			const { version: own = image.version, proof } = await examine(image.file);
			if (own !== image.version) {
				throw new GatewayError("conflict", `${image.file} has version ${own} in it: rename it`);
			}
			const query = new URLSearchParams({ device: deviceId, key: key.derive("firmware", image.file, deviceId) });
			updates.offered(deviceId, image.version, version);
			// The URL has a key for this device and file.
			return { version: image.version, url: `${url}${DOWNLOAD_PATH}/${image.file}?${query}`, ...proof };
		},
	};
}

async function sha256Of(image: FileHandle): Promise<string> {
	const hash = createHash("sha256");
	await pipeline(image.createReadStream({ autoClose: false, start: 0 }), hash);
	return hash.digest("hex");
}
