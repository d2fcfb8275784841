import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { DeviceDefinition } from "../../src/parts/index.js";
import { fromProject } from "../../toolchain/manifests.js";
import { checkDevice, chipOfBoard, readDevice } from "../../toolchain/read-device.js";
import { SdkError } from "./sdk.js";

/** The platform of mcconfig whose chips' pins are known. */
const CHIPS = "esp32";

/**
 * Checks the device that a manifest defines, if it does, before a build for a chip, and prints warnings. Rejects with SdkError
 * that names each part which cannot be used.
 *
 * @param folder the manifest's
 * @param target as mcconfig calls it: "esp32/esp32c3"
 * @returns undefined without a device, or on another platform
 */
export async function checkParts(folder: string, target: string): Promise<DeviceDefinition | undefined> {
	const manifest = join(folder, "manifest.json");
	if (!definesParts(folder) || target.split("/")[0] !== CHIPS) {
		return undefined;
	}
	try {
		const device = await readDevice(fromProject(manifest), target);
		for (const warning of device === undefined ? [] : checkDevice(device, chipOfBoard(target))) {
			console.error(`warning: ${warning}`);
		}
		return device;
	} catch (error) {
		throw new SdkError((error as Error).message, { cause: error });
	}
}

/** Whether the manifest of a folder names a device with parts of its own. */
function definesParts(folder: string): boolean {
	const text = readFileSync(join(folder, "manifest.json"), "utf8");
	return (JSON.parse(text) as { modules?: { device?: unknown } }).modules?.device !== undefined;
}
