import type { FirmwareSink, Updater } from "../../updater.js";
import type { esp32Bootloader } from "../chip/esp32-bootloader.js";
import { ESP32_MODELS } from "../chip/esp32-models.js";
import { checkIdentity, IDENTITY_BYTES, ImageHead } from "./image-identity.js";

/** A place for firmware in the chip's flash: the SDK's `embedded:storage/flash`, as far as it is used. */
interface FlashPartition {
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
	readonly bootloader: Pick<typeof esp32Bootloader, "isOnTrial" | "confirm" | "rollBack">;
	/** ESP-IDF's number for the chip's model (esp_chip_model_t). */
	readonly model: number;
	/** Verifies a P-256 signature over a SHA-256 digest. */
	readonly verify: (key: ArrayBuffer, digest: ArrayBuffer, signature: ArrayBuffer) => boolean;
}

/** An image's first byte, and where it names the chip (esp_image_header_t). */
const MAGIC = 0xe9;
const CHIP_AT = 12;

/**
 * Offset of the identity in an image: after its header of 24 bytes, the first segment's of 8, and ESP-IDF's description of
 * 256 (esp_app_desc_t).
 */
const IDENTITY_AT = 288;

/** Bytes that are checked before any are stored. */
const HEAD_BYTES = IDENTITY_AT + IDENTITY_BYTES;

/** Chip numbers in an image equal those of esp_chip_model_t, except for the first chip. */
const FIRST_MODEL = 1;
const FIRST_CHIP = 0;

type ImageSource = Parameters<Updater["begin"]>[0];

/** ESP-IDF's two app partitions: the image goes into the one that is not running. */
export class Esp32Updater<Partition extends FlashPartition> implements Updater {
	private readonly options: Esp32UpdaterOptions<Partition>;

	constructor(options: Esp32UpdaterOptions<Partition>) {
		this.options = options;
	}

	get capacity(): number {
		const partition = this.options.openPartition();
		try {
			return partition.status().size;
		} finally {
			partition.close();
		}
	}

	get isOnTrial(): boolean {
		return this.options.bootloader.isOnTrial;
	}

	begin(source: ImageSource): FirmwareSink {
		return new PartitionSink(this.options, source);
	}

	confirm(): void {
		this.options.bootloader.confirm();
	}

	rollBack(): void {
		this.options.bootloader.rollBack();
	}
}

class PartitionSink<Partition extends FlashPartition> implements FirmwareSink {
	private readonly partition: Partition;
	private readonly update: FlashUpdate;
	private readonly openDigest: () => DigestWriter;
	private readonly writer: DigestWriter;
	private readonly verify: Esp32UpdaterOptions<Partition>["verify"];
	private readonly head: ImageHead;
	private _digest = new ArrayBuffer(0);

	constructor(options: Esp32UpdaterOptions<Partition>, source: ImageSource) {
		const { openPartition, openUpdate, openDigest, model, verify } = options;
		this.verify = verify;
		this.head = new ImageHead(HEAD_BYTES, (head) => {
			checkHeader(head, model);
			checkIdentity(head, IDENTITY_AT, source);
		});
		this.openDigest = openDigest;
		this.writer = openDigest();
		this.partition = openPartition();
		try {
			this.update = openUpdate(this.partition);
		} catch (error) {
			this.partition.close();
			throw error;
		}
	}

	write(piece: ArrayBuffer): void {
		const bytes = this.head.take(piece);
		if (bytes !== undefined) {
			this.writer.write(bytes);
			this.update.write(bytes);
		}
	}

	async digest(): Promise<ArrayBuffer> {
		this.head.expectWhole();
		this._digest = this.writer.close();
		return this._digest;
	}

	async isSigned(key: ArrayBuffer, signature: ArrayBuffer, version: ArrayBuffer): Promise<boolean> {
		const writer = this.openDigest();
		writer.write(this._digest);
		writer.write(version);
		return this.verify(key, writer.close(), signature);
	}

	async finish(): Promise<void> {
		try {
			this.update.complete();
		} catch (error) {
			throw new Error(`image damaged or truncated: ${(error as Error).message}`);
		}
		this.close();
	}

	cancel(): void {
		this.close();
	}

	private close(): void {
		this.update.close();
		this.partition.close();
	}
}

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

const nameOf = (chip: number): string => ESP32_MODELS[chip === FIRST_CHIP ? FIRST_MODEL : chip] ?? `chip ${chip}`;
