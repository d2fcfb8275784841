import { type FileHandle, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { isNewer, isVersion } from "../../../src/text/version.js";

/** A firmware image in the folder. */
export interface Firmware {
	/** MODEL_VERSION.bin */
	readonly file: string;
	readonly version: string;
}

const FILE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,200}\.bin$/;

/** The folder with firmware for devices. It is read again with each request, so that images can come and go. */
export class FirmwareFolder {
	readonly #path: string;

	constructor(path: string) {
		this.#path = path;
	}

	/**
	 * The newest firmware for a model, if it is newer than the version that the device has, or the device has none that can be
	 * compared. Rejects if the folder cannot be read.
	 */
	async newerThan(version: string, model: string): Promise<Firmware | undefined> {
		const images = (await readdir(this.#path))
			.filter((file) => FILE.test(file) && file.startsWith(`${model}_`))
			.map((file) => ({ file, version: file.slice(model.length + 1, -".bin".length) }))
			.filter((image) => isVersion(image.version));
		const newest = images.reduce<Firmware | undefined>(
			(best, image) => (best === undefined || isNewer(image.version, best.version) ? image : best),
			undefined,
		);
		return newest !== undefined && (!isVersion(version) || isNewer(newest.version, version)) ? newest : undefined;
	}

	/** Opens an image. Rejects if there is none of that name. */
	async open(file: string): Promise<FileHandle> {
		if (!FILE.test(file)) {
			throw new Error("not the name of a firmware image");
		}
		return await open(join(this.#path, file));
	}
}
