import { join } from "node:path";
import type { Message, Plugin } from "esbuild";
import { type DeviceDefinition, device } from "../../../../src/hardware/parts/device.js";
import { ROOT } from "../../../root.js";
import { checkPins } from "./check-pins.js";
import { importBundle } from "./import-bundle.js";
import { readModules, shown } from "./manifests.js";

/** The module that defines a device of one's own. */
const DEVICE = "device";

/** The chip of a device without a board. */
const BARE_CHIP = "esp32";

/** The chips of the SDK's targets whose names do not say it. */
const CHIPS: Readonly<Record<string, string>> = {
	kaluga: "esp32s2",
	lilygo_t_qt: "esp32s3",
	m5dial: "esp32s3",
	moddable_display_6: "esp32s3",
	moddable_six: "esp32s3",
	saola_wroom: "esp32s2",
	waveshare_amoled_206: "esp32s3",
};

/** The chip of a target, ESP-IDF's name: "esp32/lolin_s3" has an "esp32s3". */
export function chipOfBoard(target: string = BARE_CHIP): string {
	const board = target.split("/").at(-1) ?? "";
	return CHIPS[board] ?? `${BARE_CHIP}${/s2|s3|c3|c6|h2/.exec(board)?.[0] ?? ""}`;
}

/** A device that cannot be built: the message names the part, the pin and what would do. */
class DeviceError extends Error {
	override readonly name = "DeviceError";
}

/** Drivers of SDK 8.2.3 that do not work, by the names of their modules, and what to use instead. */
const BROKEN: Readonly<Record<string, string>> = {
	"embedded:sensor/Humidity-Temperature/HTU21D":
		"the SDK's driver fails in each sample(): use embedded:sensor/Humidity-Temperature/SI7020, which reads the HTU21D, too",
};

/** Stands in for the SDK's modules, such as a driver, which only a device opens. */
const standIns: Plugin = {
	name: "stand-ins",
	setup(build) {
		build.onResolve({ filter: /^xs-mcp$/ }, () => ({ path: join(ROOT, "src/hardware/parts/index.ts") }));
		build.onResolve({ filter: /^[a-z][^:]*(:|$)/ }, ({ path }) =>
			path in BROKEN ? { errors: [{ text: `${path}: ${BROKEN[path]}` }] } : { path, namespace: "stand-in" },
		);
		build.onLoad({ filter: /.*/, namespace: "stand-in" }, () => ({
			contents: "module.exports = class StandIn { sample() {} };",
			loader: "js",
		}));
	},
};

/**
 * Reads the device that a build defines, on this computer.
 *
 * @param manifest path of the build's manifest, from the project's folder
 * @returns undefined if the build defines none. Rejects with DeviceError if it cannot be used
 */
export async function readDevice(manifest: string, target: string): Promise<DeviceDefinition | undefined> {
	const file = readModules(manifest, target).get(DEVICE);
	if (file === undefined) {
		return undefined;
	}
	try {
		const { default: definition } = await importBundle<{ readonly default: DeviceDefinition }>(
			join(ROOT, file),
			standIns,
			refuseDoubles,
		);
		if (typeof definition?.parts !== "object") {
			throw new Error('expected "export default device({ parts: { … } })"');
		}
		// Again, as the project may not have called it.
		return device(definition);
	} catch (error) {
		if (error instanceof DeviceError) {
			throw error;
		}
		throw new DeviceError(`${shown(file)}: ${(error as Error).message}`, { cause: error });
	}
}

/** JavaScript keeps the last of two members of one name. @throws DeviceError that names it, and its line */
function refuseDoubles(warnings: readonly Message[]): void {
	const double = warnings.find(({ id }) => id === "duplicate-object-key");
	if (double?.location) {
		const { file, line, column } = double.location;
		const [name = double.text] = /".*"/.exec(double.text) ?? [];
		throw new DeviceError(`${file}:${line}:${column + 1}: two parts or options have the name ${name}`);
	}
}

/**
 * Checks the pins of a device against its chip.
 *
 * @param chip ESP-IDF's name: "esp32s3". Default: that of its board
 * @returns warnings
 * @throws DeviceError that names each part with a pin that cannot be used
 */
export function checkDevice({ board, parts }: DeviceDefinition, chip: string = chipOfBoard(board)): readonly string[] {
	const { errors, warnings } = checkPins(parts, chip);
	if (errors.length > 0) {
		throw new DeviceError(errors.join("\n"));
	}
	return warnings;
}
