import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Sdk, SdkError } from "./sdk.js";

const MANIFEST = fileURLToPath(new URL("../../manifest_minimal.json", import.meta.url));

/** The target of a plain ESP32. The others are named after it: "esp32/m5stack". */
const PLAIN = "esp32";

/** The board that only QEMU has. */
const EMULATED = "esp32/qemu";

/** The reason why a chip cannot run the firmware. All other chips of the SDK have Wi-Fi. */
const WITHOUT_WIFI: Readonly<Record<string, string>> = {
	esp32h2: "its radio knows Bluetooth LE, Thread and Zigbee only",
	esp32h4: "its radio knows Bluetooth LE, Thread and Zigbee only",
	esp32p4: "it has no radio",
};

export interface Target {
	/** mcconfig's name: "esp32/m5stack_cores3". */
	readonly name: string;
	/** ESP-IDF's name: "esp32s3". */
	readonly chip: string;
	/** The folder in src/boards. */
	readonly board: string;
	/** Whether it is built as a bare chip, because it has no folder in src/boards. */
	readonly bare: boolean;
}

/**
 * Finds a target by mcconfig's name.
 *
 * @throws SdkError if the SDK does not know it, or the chip has no Wi-Fi
 */
export function findTarget({ root }: Sdk, name: string): Target {
	const [platform, board, ...more] = name.split("/");
	const folder = join(root, "build", "devices", "esp32", "targets");
	const known = existsSync(folder) ? readdirSync(folder) : [];
	if (platform !== PLAIN || more.length > 0 || (board !== undefined && !known.includes(board))) {
		const all = [PLAIN, ...known.map((each) => `${PLAIN}/${each}`)];
		throw new SdkError(`--target: unknown target ${name}. Known targets: ${all.join(", ")}`);
	}
	const chip = board === undefined ? PLAIN : chipOf(join(folder, board, "manifest.json"));
	const reason = WITHOUT_WIFI[chip];
	if (reason !== undefined) {
		throw new SdkError(`--target: ${name} has the chip ${chip}, which has no Wi-Fi: ${reason}`);
	}
	return { name, chip, ...boardOf(name) };
}

/** The real chips' targets that manifest_minimal.json names: those with a board of their own, and the plain ESP32. */
export function targetsWithBoards(): string[] {
	return Object.keys(readPlatforms()).filter((name) => name.split("/")[0] === PLAIN && name !== EMULATED);
}

/** The folder in src/boards that is built for a target, whether or not the SDK knows it. */
export function boardOf(name: string): Pick<Target, "board" | "bare"> {
	const platforms = readPlatforms();
	const bare = name === PLAIN || platforms[name] === undefined;
	const { include = "" } = platforms[bare ? PLAIN : name] ?? {};
	return { board: basename(dirname(include)), bare };
}

function readPlatforms(): Readonly<Record<string, { readonly include?: string }>> {
	return JSON.parse(readFileSync(MANIFEST, "utf8")).platforms;
}

/** @param path of the target's manifest in the SDK */
function chipOf(path: string): string {
	return JSON.parse(readFileSync(path, "utf8")).build?.ESP32_SUBCLASS ?? PLAIN;
}
