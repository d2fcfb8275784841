import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { SENSOR, SENSORS } from "xs-mcp-virtual-device/sensors";
import { ROOT } from "../../../root.js";
import { fromProject, readModules } from "../build/manifests.js";
import { failAs, readJson } from "../build/program.js";
import { readDevice } from "../build/read-device.js";
import { HOSTS, type Sdk } from "./sdk.js";

const MANIFEST = "manifest.json";

/** Prefix of the SDK's pins and buses. */
const IO = "embedded:io/";

/** The firmware's own drivers. */
const DRIVERS = "src/hardware/drivers/sensors";

/** Module of the firmware with C, for the driver of the same name, and its manifest. */
const DHT = "dht";
const DHT_MANIFEST = "src/platform/manifest_dht.json";

/** Names of drivers in a source. */
const IMPORTED = new RegExp(`"(${SENSOR}[^"]+)"`, "g");

interface Manifest {
	readonly build?: { readonly NAME?: string };
	readonly modules?: Readonly<Record<string, unknown>>;
}

/**
 * Writes a manifest that adds to a project's own one the drivers, pins and buses that its parts need: the SDK's manifests of them,
 * and the firmware's own drivers. Rejects with ProgramError that names a faulty part.
 *
 * @param own path of the project's manifest
 * @param output existing build folder
 * @returns its path, or `own` if nothing is missing
 */
export async function completeManifest(sdk: Sdk, own: string, target: string, output: string): Promise<string> {
	const path = fromProject(own);
	// The modules of a board as data are those of any chip, and its own of the SDK.
	const platform = target.includes(":") ? "esp32" : target;
	const device = await readDevice(path, platform).catch(failAs());
	if (device === undefined) {
		return own;
	}
	const modules = readModules(path, platform);
	const sources = [...modules].filter(([name]) => !name.startsWith("src/")).map(([, file]) => join(ROOT, file));
	const imported = sources.flatMap((file) => [...readFileSync(file, "utf8").matchAll(IMPORTED)]);
	const loaded = Object.values(device.parts).flatMap(({ loads = [] }) => loads);
	const names = [...new Set([...imported.map(([, name = ""]) => name), ...loaded])].filter(
		(name) => !modules.has(name),
	);
	if (names.length === 0) {
		return own;
	}
	const drivers = names.filter((name) => SENSORS[name.slice(SENSOR.length)]?.isOwn);
	// The firmware's modules have the names of their files, by which they import each other: these have those of drivers.
	for (const name of drivers) {
		write(
			join(output, `${basename(name)}.js`),
			`export { default } from "${DRIVERS}/${basename(name).toLowerCase()}";\n`,
		);
	}
	// The simulator has stand-ins for pins and other buses.
	const isSimulator = Object.values(HOSTS).includes(target);
	const included = names.filter(
		(name) => !isSimulator || name.startsWith(SENSOR) || name === "onewire" || name === DHT,
	);
	const ofSdk = included.filter((name) => !drivers.includes(name) && name !== DHT);
	const files = ["sensor-bus", ...drivers.map((name) => basename(name).toLowerCase())];
	const folder = relative(output, join(ROOT, DRIVERS));
	const manifest = {
		build: { NAME: readJson<Manifest>(own).build?.NAME },
		include: [
			relative(output, own),
			...(included.includes(DHT) ? [relative(output, join(ROOT, DHT_MANIFEST))] : []),
			...ofSdk.flatMap((name) => manifestOf(sdk, name) ?? []),
		],
		modules: {
			...Object.fromEntries(drivers.map((name) => [name, `./${basename(name)}`])),
			...(drivers.length > 0 && { [`${DRIVERS}/*`]: files.map((file) => `${folder}/${file}`) }),
		},
		preload: drivers,
	};
	const file = join(output, MANIFEST);
	write(file, JSON.stringify(manifest));
	return file;
}

/** Writes a file that differs: make compares times. */
function write(file: string, text: string): void {
	if (!existsSync(file) || readFileSync(file, "utf8") !== text) {
		writeFileSync(file, text);
	}
}

/** Returns the SDK's manifest that has a module; undefined if none has it. */
function manifestOf({ root }: Sdk, name: string): string | undefined {
	const folders = name.startsWith(SENSOR) ? sensorFolders(root) : [folderOf(name)];
	const found = folders.find((folder) => {
		const file = join(root, "modules", folder, MANIFEST);
		return existsSync(file) && (!name.startsWith(SENSOR) || name in (readJson<Manifest>(file).modules ?? {}));
	});
	return found && `$(MODDABLE)/modules/${found}/${MANIFEST}`;
}

function sensorFolders(root: string): string[] {
	const folder = "drivers/sensors";
	return readdirSync(join(root, "modules", folder)).map((name) => `${folder}/${name}`);
}

function folderOf(name: string): string {
	const io = name === `${IO}smbus` ? `${IO}i2c` : name;
	return io.startsWith(IO) ? `io/${io.slice(IO.length)}` : `drivers/${name}`;
}
