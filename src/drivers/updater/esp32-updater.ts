import type { FirmwareSink, Updater } from "../../hardware/updater.js";
import { deepFreeze } from "../../text/deep-freeze.js";
import type { esp32Bootloader } from "../chip/esp32-bootloader.js";
import { ESP32_MODELS } from "../chip/esp32-models.js";
import { ImageHead } from "./image-head.js";

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
	/** The project of the running firmware, as its image names it (esp_app_desc_t). */
	readonly project: string;
	/** Verifies a P-256 signature over a SHA-256 digest. */
	readonly verify: (key: ArrayBuffer, digest: ArrayBuffer, signature: ArrayBuffer) => boolean;
}

/** An image's first byte, and where it names the chip (esp_image_header_t). */
const MAGIC = 0xe9;
const CHIP_AT = 12;

/**
 * Where an image describes itself (esp_app_desc_t): after its header of 24 bytes and the first segment's of 8. The
 * description starts with 0xabcd5432, little endian.
 */
const DESCRIPTION_AT = 32;
const DESCRIPTION_MAGIC: readonly number[] = deepFreeze([0x32, 0x54, 0xcd, 0xab]);

/** Where the description names the project, and the bytes for the name; the rest are zeros. */
const PROJECT_AT = DESCRIPTION_AT + 48;
const PROJECT_BYTES = 32;

/** Bytes that are checked before any are stored. */
const HEAD_BYTES = PROJECT_AT + PROJECT_BYTES;

/** Chip numbers in an image equal those of esp_chip_model_t, except for the first chip. */
const FIRST_MODEL = 1;
const FIRST_CHIP = 0;

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

	begin(anyProject: boolean): FirmwareSink {
		return new PartitionSink(this.options, anyProject);
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

	constructor(options: Esp32UpdaterOptions<Partition>, anyProject: boolean) {
		const { openPartition, openUpdate, openDigest, model, project, verify } = options;
		this.verify = verify;
		this.head = new ImageHead(HEAD_BYTES, (head) => {
			checkHeader(head, model);
			if (!anyProject) {
				checkProject(head, project);
			}
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

/** A server of the xiaozhi family offers its own firmware to every device. */
const checkProject = (head: Uint8Array, own: string): void => {
	const project = projectOf(head);
	if (project !== own) {
		const found =
			project === undefined
				? `names no project, expected ${JSON.stringify(own)}`
				: `is firmware of the project ${JSON.stringify(project)}, not of ${JSON.stringify(own)}`;
		throw new Error(`the image ${found}: only a person can allow that, by anyProject of self.upgrade_firmware`);
	}
};

const projectOf = (head: Uint8Array): string | undefined => {
	if (DESCRIPTION_MAGIC.some((byte, index) => head[DESCRIPTION_AT + index] !== byte)) {
		return undefined;
	}
	const name = head.subarray(PROJECT_AT, HEAD_BYTES);
	const end = name.indexOf(0);
	return String.fromCharCode(...(end < 0 ? name : name.subarray(0, end)));
};

const nameOf = (chip: number): string => ESP32_MODELS[chip === FIRST_CHIP ? FIRST_MODEL : chip] ?? `chip ${chip}`;
