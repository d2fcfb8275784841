import { execFileSync, spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, delimiter, dirname, join, relative } from "node:path";
import { SENSOR, SENSORS } from "xs-mcp-virtual-device/sensors";
import { hostOf, targetFiles } from "../build/board-target.js";
import { fromProject, readManifest, readModules } from "../build/manifests.js";
import { attempt, failAs, ProgramError, readJson } from "../build/program.js";
import { readDevice } from "../build/read-device.js";
import { ROOT } from "../root.js";
import { HOSTS, type Sdk, sdkEnvironment, type Target, TSC } from "./sdk.js";

/** Returns the path of a manifest: itself, or mcconfig's default in a folder. */
const manifestOf = (path: string): string => (path.endsWith(".json") ? path : join(path, "manifest.json"));

/** Lines of a failed build that are shown: the error is among the last of them. */
const LINES_SHOWN = 20;

/** Archive of a build's objects. The SDK's makefile adds to it, and so keeps objects whose sources are gone. */
const ARCHIVE = /^xs_esp32\w*\.a$/;

interface McconfigOptions {
	/** Whether its output goes to the terminal. Otherwise it is part of the error. */
	readonly show: boolean;
	/** Default: the SDK's. */
	readonly env?: NodeJS.ProcessEnv;
	/** Build folder. Default: the manifest's own. */
	readonly output?: string;
}

/**
 * Runs `mcconfig -m` for a manifest, with a separate build folder and the project's TypeScript on the PATH.
 *
 * @param project the manifest, or its folder
 * @param args as on its command line
 * @throws ProgramError when it fails
 */
export async function mcconfig(
	sdk: Sdk,
	project: string,
	args: readonly string[],
	{ show, env = sdkEnvironment(sdk), output = outputOf(project) }: McconfigOptions,
): Promise<void> {
	if (/[\s:]/.test(output)) {
		throw new ProgramError(
			`${output}: the SDK's makefiles cannot build in a path with spaces or colons: move the project`,
		);
	}
	mkdirSync(output, { recursive: true });
	for (const path of readdirSync(output, { recursive: true, encoding: "utf8" })) {
		if (ARCHIVE.test(basename(path))) {
			rmSync(join(output, path));
		}
	}
	// The SDK's makefile runs ESP-IDF's build in bash and ignores its failure: it continues with the image of an earlier
	// build, but stops if the program is missing. This is the file that bash reads first.
	const bash = join(output, "idf.bash");
	writeFileSync(bash, 'idf.py() { command idf.py "$@" || { rm -f build/xs_esp32.elf; return 1; }; }\n');
	const target = args[args.indexOf("-p") + 1] ?? "";
	const path = manifestOf(project);
	const manifest = await completeManifest(sdk, path, target, output);
	await runMcconfig(sdk, dirname(path), ["-m", "-o", output, ...args, manifest], show, {
		...env,
		BASH_ENV: bash,
	});
}

/** @throws ProgramError when mcconfig fails, with the last lines of its output unless they were shown */
async function runMcconfig(
	{ bin }: Sdk,
	cwd: string,
	args: readonly string[],
	show: boolean,
	env: NodeJS.ProcessEnv,
): Promise<void> {
	// The SDK's debugger may ask for Ctrl-C in the terminal.
	const stdio = show ? "inherit" : (["ignore", "pipe", "pipe"] as const);
	const child = spawn(join(bin, "mcconfig"), args, { cwd, env, stdio: stdio as "inherit" });
	const output: Buffer[] = [];
	child.stdout?.on("data", (bytes) => output.push(bytes));
	child.stderr?.on("data", (bytes) => output.push(bytes));
	const status = await new Promise<number | null>((resolve, reject) => {
		child.on("error", (error) => reject(new ProgramError(`could not run mcconfig: ${error.message}`)));
		child.on("close", resolve);
	});
	if (status !== 0) {
		// A linker's warnings alone are hundreds of lines.
		const lines = String(Buffer.concat(output))
			.split("\n")
			.filter((line) => line !== "" && !line.startsWith("### warning"));
		throw new ProgramError(`mcconfig failed (${status ?? "killed"})\n${lines.slice(-LINES_SHOWN).join("\n")}`);
	}
}

/**
 * Builds a manifest for a chip up to the C code for its compiler.
 *
 * @param target as mcconfig calls it: "esp32/esp32s3"
 * @param settings of the firmware: "ssid=…"
 * @param made file of the build: the linker's output, or `mc.resources.c`
 * @returns its path
 * @throws ProgramError when the build fails
 */
export async function linkForChip(
	sdk: Sdk,
	folder: string,
	target: string,
	settings: readonly string[] = [],
	made: "mc.xs.c" | "mc.resources.c" = "mc.xs.c",
): Promise<string> {
	// Separate from complete builds, which would take the stand-in's ESP-IDF settings.
	const output = join(`${outputOf(folder)}-linked`, target.replaceAll(/\W+/g, "-"));
	const linked = join(output, "tmp", foldersOf(target), "release", nameOf(folder), made);
	// A file of an earlier build would be mistaken for this one's.
	rmSync(linked, { force: true });
	const env = withoutIdf(sdk);
	await mcconfig(sdk, folder, ["-p", target, "-t", linked, ...settings], { show: false, env, output });
	return linked;
}

/**
 * Makes mcconfig write the files of a build to an empty folder, without building it. It takes less than a second.
 *
 * @param target as mcconfig calls it
 * @returns the folder of the program, with manifest_flat.json, the makefile and ESP-IDF's project (xsProj-CHIP)
 * @throws ProgramError when that fails
 */
export async function configureBuild(sdk: Sdk, folder: string, target: string): Promise<string> {
	const output = join(`${outputOf(folder)}-configured`, target.replaceAll(/\W+/g, "-"));
	rmSync(output, { recursive: true, force: true });
	mkdirSync(output, { recursive: true });
	const manifest = await completeManifest(sdk, manifestOf(folder), target, output);
	await runMcconfig(sdk, folder, ["-o", output, "-p", target, manifest], false, withoutIdf(sdk));
	const paths = readdirSync(output, { recursive: true, encoding: "utf8" });
	return join(output, paths.find((path) => basename(path) === nameOf(folder) && path.startsWith("tmp")) as string);
}

/**
 * Checks the types of a build with the compiler settings and the SDK's typings that mcconfig gives it. One run finds all
 * errors in less than a second, where mcconfig's makefile runs the compiler once per file and stops at the first error.
 *
 * @param folder of the build: see {@link configureBuild}
 * @returns the compiler's messages; empty without an error
 */
export function findTypeErrors(folder: string): string {
	const paths = readdirSync(folder, { recursive: true, encoding: "utf8" });
	// One configuration for each file; all extend that of the build.
	const configs = paths
		.filter((path) => path.endsWith("-tsconfig.json"))
		.map((path) => JSON.parse(readFileSync(join(folder, path), "utf8")));
	const files = configs.flatMap((each): string[] => each.files);
	const config = join(folder, "tsconfig-check.json");
	writeFileSync(config, JSON.stringify({ extends: configs[0]?.extends, compilerOptions: { noEmit: true }, files }));
	const { status, stdout, error } = spawnSync(process.execPath, [TSC, "--project", config], { encoding: "utf8" });
	return status === 0 ? "" : (error?.message ?? stdout.trim());
}

/**
 * Bytes of constant data.
 *
 * @param file C of a build
 * @throws ProgramError if the C compiler has no 32-bit support
 */
export function measureData({ root }: Sdk, file: string): number {
	const folders = [...["platforms", "includes", "sources"].map((name) => join(root, "xs", name)), dirname(file)];
	const object = `${file}.o`;
	const run = (program: string, args: readonly string[]): string =>
		attempt("the measurement of what was linked", () =>
			execFileSync(program, args, { encoding: "utf8", stdio: "pipe" }),
		);
	run("gcc", ["-m32", "-c", "-w", ...folders.map((folder) => `-I${folder}`), file, "-o", object]);
	const [, line = ""] = run("size", [object]).split("\n");
	const [text = 0, data = 0] = line.trim().split(/\s+/).map(Number);
	return text + data;
}

/** The SDK's environment with stand-ins that do nothing: mcconfig requires ESP-IDF's folder, version and program. */
function withoutIdf(sdk: Sdk): NodeJS.ProcessEnv {
	const folder = join(ROOT, ".cache", "moddable", "no-idf");
	mkdirSync(folder, { recursive: true });
	const script = "#!/bin/sh\nmkdir -p build/config && touch build/config/sdkconfig.h\n";
	writeFileSync(join(folder, "idf.py"), script, { mode: 0o755 });
	const env = sdkEnvironment(sdk);
	// The makefile would read the version from a repository.
	return { ...env, IDF_PATH: folder, PATH: [folder, env.PATH].join(delimiter), MAKEFLAGS: "IDF_VERSION=none" };
}

/**
 * Returns mcconfig's name of a target, whose files are written first if it is made of data.
 *
 * @param folder of the manifest that is built, in which mcconfig runs
 */
export function prepareTarget({ root }: Sdk, { name, data }: Target, folder: string): string {
	if (data === undefined) {
		return name;
	}
	const board = basename(name);
	// mcconfig takes no capitals in the path of a target.
	const target = join(`${outputOf(folder)}-boards`, board.toLowerCase());
	for (const [path, text] of Object.entries(targetFiles(root, board, data, relative(target, join(ROOT, "src"))))) {
		write(join(target, path), text);
	}
	const host = hostOf(root, data);
	if (host !== undefined) {
		cpSync(host, join(target, "host"), { recursive: true, preserveTimestamps: true });
	}
	return `esp32:./${relative(folder, target)}`;
}

/** Returns the folders of a target in a build folder: one of data, "esp32:FOLDER", has its fixed name. */
export const foldersOf = (target: string): string => (target.includes(":") ? "esp32/generated" : target);

/** Reads the program's name in a manifest. */
export const nameOf = (project: string): string => readManifest(fromProject(manifestOf(project))).build?.NAME ?? "";

/** Returns the build folder of a manifest: one each, so that builds may run at the same time, and none in the SDK. */
export function outputOf(project: string): string {
	const isOutside = relative(ROOT, project).startsWith("..");
	return isOutside
		? join(dirname(manifestOf(project)), "build", "moddable")
		: join(ROOT, ".cache", "moddable", relative(ROOT, project.replace(/\.json$/, "")) || "firmware");
}

const MANIFEST = "manifest.json";

/** Prefix of the SDK's pins and buses. */
const IO = "embedded:io/";

/** The SDK's drivers of sensors, and the firmware's own. */
const SENSORS_OF_SDK = "drivers/sensors";
const DRIVERS = "src/hardware/drivers/sensors";

/** Module that they import, as drivers of a board's chips do. */
const BUS = "src/hardware/drivers/bus-chip";

/** Module of the firmware with C, for the driver of the same name, and its manifest. */
const DHT = "dht";
const DHT_MANIFEST = "src/platform/manifest_dht.json";

/** Names of drivers in a source. */
const IMPORTED = new RegExp(`"(${SENSOR}[^"]+)"`, "g");

/**
 * Writes a manifest that adds to a project's own one the drivers, pins and buses that its parts need: the SDK's manifests of them,
 * and the firmware's own drivers. Rejects with ProgramError that names a faulty part.
 *
 * @param own path of the project's manifest
 * @param output existing build folder
 * @returns its path, or `own` if nothing is missing
 * @internal exported for a test
 */
export async function completeManifest(sdk: Sdk, own: string, target: string, output: string): Promise<string> {
	const path = fromProject(own);
	// A board as data has the modules of any chip, and its own modules of the SDK.
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
	// The firmware's modules import each other by the names of their files. These modules add the names of drivers.
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
		build: { NAME: nameOf(own) },
		include: [
			relative(output, own),
			...(included.includes(DHT) ? [relative(output, join(ROOT, DHT_MANIFEST))] : []),
			...ofSdk.flatMap((name) => sdkManifestOf(sdk, name) ?? []),
		],
		modules: {
			...Object.fromEntries(drivers.map((name) => [name, `./${basename(name)}`])),
			...(drivers.length > 0 && {
				[BUS]: relative(output, join(ROOT, BUS)),
				[`${DRIVERS}/*`]: files.map((file) => `${folder}/${file}`),
			}),
		},
		preload: drivers,
	};
	const file = join(output, MANIFEST);
	write(file, JSON.stringify(manifest));
	return file;
}

/** Writes a file only if it differs, because make compares times. */
function write(file: string, text: string): void {
	if (!existsSync(file) || readFileSync(file, "utf8") !== text) {
		mkdirSync(dirname(file), { recursive: true });
		writeFileSync(file, text);
	}
}

/** Returns the SDK's manifest that has a module; undefined if none has it. */
function sdkManifestOf({ root }: Sdk, name: string): string | undefined {
	const fileOf = (folder: string): string => join(root, "modules", folder, MANIFEST);
	const io = name === `${IO}smbus` ? `${IO}i2c` : name;
	const folder = io.startsWith(IO) ? `io/${io.slice(IO.length)}` : `drivers/${name}`;
	const found = name.startsWith(SENSOR)
		? readdirSync(join(root, "modules", SENSORS_OF_SDK))
				.map((each) => `${SENSORS_OF_SDK}/${each}`)
				.find(
					(each) =>
						existsSync(fileOf(each)) && name in (readJson<{ readonly modules?: object }>(fileOf(each)).modules ?? {}),
				)
		: [folder].find((each) => existsSync(fileOf(each)));
	return found && `$(MODDABLE)/modules/${found}/${MANIFEST}`;
}
