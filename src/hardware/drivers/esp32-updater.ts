import type { FirmwareSink, Updater } from "../updater.js";
import type { esp32Chip } from "./esp32-chip.js";
import { ESP32_MODELS } from "./esp32-models.js";
import { checkedSink } from "./image-identity.js";

/** A place for firmware in the chip's flash: the SDK's `embedded:storage/flash`. */
export interface FlashPartition {
	status(): { readonly size: number };
	close(): void;
}

/** An image being stored: the SDK's `embedded:update`. */
interface FlashUpdate {
	write(piece: ArrayBuffer): void;
	/** Checks the image, and makes the chip start it from the next restart on. */
	complete(): void;
	/** Discards the image unless it is complete. */
	close(): void;
}

/** A digest to which bytes are added: the SDK's. */
interface DigestWriter {
	write(bytes: ArrayBuffer): void;
	close(): ArrayBuffer;
}

interface Esp32UpdaterOptions<Partition extends FlashPartition> {
	/** Opens the partition that is not running. */
	readonly openPartition: () => Partition;
	readonly openUpdate: (partition: Partition) => FlashUpdate;
	readonly openDigest: () => DigestWriter;
	readonly chip: Pick<typeof esp32Chip, "isOnTrial" | "confirm" | "rollBack"> & {
		readonly numbers: { readonly model: number };
	};
	/** Verifies a P-256 signature over a SHA-256 digest. */
	readonly verify: (key: ArrayBuffer, digest: ArrayBuffer, signature: ArrayBuffer) => boolean;
}

/** An image's first byte, and where it names the chip (esp_image_header_t). */
const MAGIC = 0xe9;
const CHIP_AT = 12;

/** Offset of the identity in an image: after its header (24), a segment's (8) and esp_app_desc_t (256). */
const IDENTITY_AT = 288;

/** Chip numbers in an image equal those of esp_chip_model_t, except for the first chip. */
const FIRST_MODEL = 1;
const FIRST_CHIP = 0;

/** ESP-IDF's two app partitions: the image goes into the one that is not running. */
export const esp32Updater = <Partition extends FlashPartition>(options: Esp32UpdaterOptions<Partition>): Updater => {
	const { openPartition, chip } = options;
	return {
		get capacity() {
			const partition = openPartition();
			try {
				return partition.status().size;
			} finally {
				partition.close();
			}
		},
		get isOnTrial() {
			return chip.isOnTrial;
		},
		begin: (source) =>
			checkedSink(IDENTITY_AT, source, (image) => checkHeader(image, chip.numbers.model), openSink(options)),
		confirm: () => chip.confirm(),
		rollBack: () => chip.rollBack(),
	};
};

const openSink = <Partition extends FlashPartition>({
	openPartition,
	openUpdate,
	openDigest,
	verify,
}: Esp32UpdaterOptions<Partition>): FirmwareSink => {
	const whole = openDigest();
	const partition = openPartition();
	let update: FlashUpdate;
	try {
		update = openUpdate(partition);
	} catch (error) {
		partition.close();
		throw error;
	}
	let digest = new ArrayBuffer(0);
	const close = (): void => {
		update.close();
		partition.close();
	};
	return {
		write(piece) {
			whole.write(piece);
			update.write(piece);
		},
		async digest() {
			digest = whole.close();
			return digest;
		},
		async isSigned(key, signature, version) {
			const writer = openDigest();
			writer.write(digest);
			writer.write(version);
			return verify(key, writer.close(), signature);
		},
		async finish() {
			try {
				update.complete();
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
