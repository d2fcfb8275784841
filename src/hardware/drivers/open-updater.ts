import flash from "embedded:storage/flash";
import update from "embedded:update";
import { Digest } from "crypt";
import type { Updater } from "../updater.js";
import { esp32Chip } from "./esp32-chip.js";
import { esp32Updater } from "./esp32-updater.js";
import { verifyP256 } from "./p256.js";

/** The chip's updater. Its board's manifest names a partition table with two firmware slots: `4mb.csv`, … */
export default function openUpdater(): Updater {
	return esp32Updater({
		openPartition: () => flash.open({ path: "nextota" }),
		openUpdate: (partition) => update.open({ partition, mode: "a" }),
		openDigest: () => new Digest("SHA256"),
		chip: esp32Chip,
		verify: verifyP256,
	});
}
