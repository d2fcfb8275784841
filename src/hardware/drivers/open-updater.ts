import flash from "embedded:storage/flash";
import update from "embedded:update";
import { Digest } from "crypt";
import { esp32Chip } from "./esp32-chip.js";
import { esp32Updater } from "./esp32-updater.js";
import { verifyP256 } from "./p256.js";

const openParts = () => ({ flash, update, Digest, chip: esp32Chip, verify: verifyP256 });

export type UpdaterParts = ReturnType<typeof openParts>;

/** The chip's updater. Its board's manifest names a partition table with two firmware slots: `4mb.csv`, … */
const openUpdater = () => esp32Updater(openParts());

export default openUpdater;
