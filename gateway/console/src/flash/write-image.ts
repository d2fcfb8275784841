// Loaded when a board is flashed, and not before: esptool-js is as large as the rest of the page.
import { ESPLoader, Transport } from "esptool-js";

/** A file, and where in the flash it belongs. */
interface FlashPart {
	readonly data: Uint8Array;
	readonly offset: number;
}

interface WriteOptions {
	/** Loads the files for a chip, such as "ESP32-S3". Rejects if the image has no build for it. */
	readonly partsFor: (chip: string) => Promise<readonly FlashPart[]>;
	/** Whether everything is erased first, settings too. */
	readonly erase: boolean;
	/** @param share of all bytes: 0 to 1 */
	readonly onProgress: (share: number) => void;
	readonly onLog: (line: string) => void;
}

/** Bits per second, to the chip's own loader and to the one that is loaded into its memory. */
const ROM_BAUD = 115_200;
const BAUD = 460_800;

/** Milliseconds for which a chip is held in reset. */
const RESET_TIME = 100;

/** Writes an image to a board, and restarts it. The port is closed afterwards. Rejects if the board does not answer or refuses. */
export async function writeImage(
	port: SerialPort,
	{ partsFor, erase, onProgress, onLog }: WriteOptions,
): Promise<void> {
	const transport = new Transport(port);
	const terminal = { clean: () => {}, writeLine: onLog, write: onLog };
	try {
		const loader = new ESPLoader({ transport, baudrate: BAUD, romBaudrate: ROM_BAUD, terminal });
		await loader.main();
		const parts = await partsFor(loader.chip.CHIP_NAME);
		const bytes = parts.reduce((sum, { data }) => sum + data.length, 0);
		const before = parts.map((_, at) => parts.slice(0, at).reduce((sum, { data }) => sum + data.length, 0));
		await loader.writeFlash({
			fileArray: parts.map(({ data, offset }) => ({ data, address: offset })),
			flashMode: "keep",
			flashFreq: "keep",
			flashSize: "keep",
			eraseAll: erase,
			compress: true,
			reportProgress: (at, written, total) =>
				onProgress(((before[at] ?? 0) + (parts[at]?.data.length ?? 0) * (written / total)) / bytes),
		});
		await restart(transport);
	} finally {
		await transport.disconnect().catch(() => {});
	}
}

/** The loader's own "hard_reset" only ends a reset. */
async function restart(transport: Transport): Promise<void> {
	await transport.setDTR(false);
	await transport.setRTS(true);
	await new Promise((resolve) => setTimeout(resolve, RESET_TIME));
	await transport.setRTS(false);
}
