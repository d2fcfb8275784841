import flash from "embedded:storage/flash";
import update from "embedded:update";
import { Digest } from "crypt";
import { Esp32Updater } from "../drivers/esp32-updater.js";
import type { Updater } from "../hardware/updater.js";
import { esp32Bootloader } from "./esp32-bootloader.js";
import { esp32Chip } from "./esp32-chip.js";
import { verifyP256 } from "./p256.js";

/** The chip's updater; undefined if its partition table has one place for firmware only. */
export function openUpdater(): Updater | undefined {
	const openPartition = () => flash.open({ path: "nextota" });
	try {
		openPartition().close();
	} catch {
		return undefined;
	}
	return new Esp32Updater({
		openPartition,
		openUpdate: (partition) => update.open({ partition, mode: "a" }),
		openDigest: () => new Digest("SHA256"),
		bootloader: esp32Bootloader,
		model: esp32Chip.model,
		verify: verifyP256,
	});
}
