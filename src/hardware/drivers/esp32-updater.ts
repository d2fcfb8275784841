import type { FirmwareSink, Updater } from "../updater.js";
import { ESP32_MODELS } from "./esp32-models.js";
import { checkedSink } from "./image-identity.js";
import type { UpdaterParts } from "./open-updater.js";

/** The app partition that is not running. */
const PARTITION = Object.freeze({ path: "nextota" });

/** An image's first byte, and the offset of its chip number (esp_image_header_t). */
const MAGIC = 0xe9;
const CHIP_AT = 12;

/** Offset of the identity in an image: after its header (24), a segment's (8) and esp_app_desc_t (256). */
const IDENTITY_AT = 288;

/** Chip numbers in an image equal those of esp_chip_model_t, except for the first chip. */
const FIRST_MODEL = 1;
const FIRST_CHIP = 0;

/** ESP-IDF's two app partitions: the image goes into the one that is not running. */
export const esp32Updater = (parts: UpdaterParts): Updater => {
	const { flash, chip } = parts;
	return {
		get capacity() {
			const partition = flash.open(PARTITION);
			const { size } = partition.status();
			partition.close();
			return size;
		},
		get isOnTrial() {
			return chip.isOnTrial;
		},
		begin: (source) =>
			checkedSink(IDENTITY_AT, source, (image) => checkHeader(image, chip.numbers.model), openSink(parts)),
		confirm: () => chip.confirm(),
		rollBack: () => chip.rollBack(),
	};
};

const openSink = ({ flash, update, Digest, verify }: UpdaterParts): FirmwareSink => {
	const whole = new Digest("SHA256");
	const partition = flash.open(PARTITION);
	let image: ReturnType<typeof update.open>;
	try {
		// Pieces come one after another, and each block of flash is erased when it is reached.
		image = update.open({ partition, mode: "a" });
	} catch (error) {
		partition.close();
		throw error;
	}
	let digest = new ArrayBuffer(0);
	const close = (): void => {
		image.close();
		partition.close();
	};
	return {
		write(piece) {
			whole.write(piece);
			image.write(piece);
		},
		async digest() {
			digest = whole.close();
			return digest;
		},
		async isSigned(key, signature, version) {
			const writer = new Digest("SHA256");
			writer.write(digest);
			writer.write(version);
			return verify(key, writer.close(), signature);
		},
		async finish() {
			try {
				image.complete();
			} catch (error) {
				throw new Error(`image damaged or truncated: ${(error as Error).message}`);
			}
			close();
		},
		cancel: close,
	};
};

const checkHeader = (head: Uint8Array, model: number): void => {
	if (head[0] !== MAGIC) {
		throw new Error(`not a firmware image: its first byte is ${head[0]}, not ${MAGIC}`);
	}
	const chip = (head[CHIP_AT] ?? 0) + 256 * (head[CHIP_AT + 1] ?? 0);
	const own = model === FIRST_MODEL ? FIRST_CHIP : model;
	if (chip !== own) {
		throw new Error(`the image is for ${nameOf(chip)}, but this chip is an ${nameOf(own)}`);
	}
};

const nameOf = (chip: number): string => ESP32_MODELS[chip === FIRST_CHIP ? FIRST_MODEL : chip]?.name ?? `chip ${chip}`;
