import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { type FileHandle, readdir } from "node:fs/promises";
import { join } from "node:path";
import { LRUCache } from "lru-cache";
import { ConfigurationError } from "../../config/configuration-error.js";
import { type ImageIdentity, isNewer, isVersion, readIdentity } from "../../firmware.js";
import { openFile } from "./firmware-download.js";

/** A firmware image in the folder. */
export interface Firmware {
	/** MODEL_VERSION.bin */
	readonly file: string;
	readonly version: string;
}

/** The digest and signature of an image. */
interface FirmwareProof {
	/** SHA-256 of the image, in hexadecimal digits. */
	readonly sha256: string;
	/** The text of the file MODEL_VERSION.bin.sig beside the image, if it exists. */
	readonly signature?: string;
}

/** Limit of cached digests, each valid until its image changes. */
const MAX_DIGESTS = 64;

/** Bytes before the identity in images of chips (src/hardware/drivers/updater/esp32-updater.ts) and of virtual devices. */
const IDENTITY_AT = [288, 12];
const HEAD_BYTES = 512;

const FILE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,200}\.bin$/;

/** The folder with firmware for devices. It is read again with each request, so that images can come and go. */
export class FirmwareFolder {
	readonly #path: string;
	/** Digests by file, size and time of the last change. */
	readonly #digests = new LRUCache<string, Promise<string>>({ max: MAX_DIGESTS });

	/** @throws ConfigurationError if the folder cannot be read */
	constructor(path: string) {
		this.#path = path;
		try {
			readdirSync(path);
		} catch (error) {
			throw new ConfigurationError([`firmwareFolder: ${(error as Error).message}`], { cause: error });
		}
	}

	/**
	 * Firmware for a model: of the wanted version, or else the newest, if it is newer than the device's version or that
	 * cannot be compared. Rejects if the folder cannot be read.
	 */
	async find(
		model: string,
		{ newerThan: version, wanted }: { readonly newerThan: string; readonly wanted?: string | undefined },
	): Promise<Firmware | undefined> {
		const images = (await readdir(this.#path, { withFileTypes: true }))
			.filter((entry) => entry.isFile() || entry.isSymbolicLink())
			.map(({ name }) => name)
			.filter((file) => FILE.test(file) && file.startsWith(`${model}_`))
			.map((file) => ({ file, version: file.slice(model.length + 1, -".bin".length) }))
			.filter((image) => isVersion(image.version));
		if (wanted !== undefined) {
			return images.find((image) => image.version === wanted);
		}
		const newest = images.reduce<Firmware | undefined>(
			(best, image) => (best === undefined || isNewer(image.version, best.version) ? image : best),
			undefined,
		);
		return newest !== undefined && (!isVersion(version) || isNewer(newest.version, version)) ? newest : undefined;
	}

	/** Opens an image. Rejects if it does not exist. */
	async open(file: string): Promise<FileHandle> {
		if (!FILE.test(file)) {
			throw new Error("not the name of a firmware image");
		}
		return await openFile(join(this.#path, file));
	}

	/** The project and version that an image has in itself; undefined for firmware of another kind. Rejects if it cannot be read. */
	async identityOf(file: string): Promise<ImageIdentity | undefined> {
		const image = await this.open(file);
		const head = new Uint8Array(HEAD_BYTES);
		await image.read(head, 0, HEAD_BYTES, 0).finally(() => image.close());
		return IDENTITY_AT.map((at) => readIdentity(head, at)).find((identity) => identity !== undefined);
	}

	/** The digest and signature of an image. Rejects if the image cannot be read. */
	async proofOf(file: string): Promise<FirmwareProof> {
		const image = await this.open(file);
		try {
			const { size, mtimeMs } = await image.stat();
			const key = `${file} ${size} ${mtimeMs}`;
			const digest = this.#digests.get(key) ?? sha256Of(image);
			this.#digests.set(key, digest);
			// One that failed may succeed the next time.
			digest.catch(() => this.#digests.delete(key));
			const sha256 = await digest;
			const signed = await openFile(join(this.#path, `${file}.sig`)).catch(() => undefined);
			const signature = await signed?.readFile("utf8").finally(() => signed.close());
			return { sha256, ...(signature !== undefined && { signature: signature.trim() }) };
		} finally {
			await image.close();
		}
	}
}

async function sha256Of(image: FileHandle): Promise<string> {
	const hash = createHash("sha256");
	for await (const piece of image.createReadStream({ autoClose: false })) {
		hash.update(piece as Buffer);
	}
	return hash.digest("hex");
}
