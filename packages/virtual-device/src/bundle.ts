import { basename, join } from "node:path";
import { build, type Plugin, stop } from "esbuild";
import { closest } from "fastest-levenshtein";
import { checkDevice } from "xs-mcp/build/check-board";
import { bundlerErrors, isElsewhere, moduleOf, readManifest, readModules, shown } from "xs-mcp/build/manifests";
import { FIRMWARE_MANIFEST, modulesPlugin } from "xs-mcp/build/modules-plugin";
import { readDevice } from "xs-mcp/build/read-device";
import { ROOT } from "xs-mcp/root";
import { FIRMWARE } from "xs-mcp-firmware/core/firmware";
import type { DeviceDefinition } from "xs-mcp-firmware/hardware/parts/index";
import { SENSOR, SENSORS, staticIo } from "../platform/io/sensors.js";
import { type BoardProfile, type OwnPart, profileOf } from "./boards.js";

const PLATFORM = join(ROOT, "packages/virtual-device/platform/");
const SOURCE = join(ROOT, "src/");

/** The files of some modules, whose names begin with a prefix. */
const filesOf = (names: readonly string[], folder: string, prefix = ""): Readonly<Record<string, string>> =>
	Object.fromEntries(names.map((name) => [`${prefix}${name}`, `${folder}${name}.ts`]));

const IO = ["analog", "digital", "i2c", "pulsecount", "pulsewidth", "pwm", "serial", "smbus"];

/** The SDK's modules for pins and buses, which a part finds by name and a tool imports. */
const HARDWARE = {
	...filesOf(IO, `${PLATFORM}io/`, "embedded:io/"),
	...filesOf(["neopixel", "onewire"], PLATFORM),
	dht: `${PLATFORM}onewire.ts`,
};

/** Files of modules by name: those that each host resolves differently have stand-ins on the virtual device. */
const FILES: Readonly<Record<string, string>> = {
	...HARDWARE,
	...filesOf(["time", "timer", "preference", "virtual-host"], PLATFORM),
	...filesOf(["network", "http-server", "dns-sd", "hmac-sha256", "udp-audio"], PLATFORM, "src/platform/"),
	...filesOf(["features", "in-build", "tools"], `${SOURCE}platform/`, "src/platform/"),
	"mc/config": `${PLATFORM}config.ts`,
	"src/hardware/boards/target/board": `${SOURCE}hardware/boards/virtual/board.ts`,
	"xs-mcp": `${SOURCE}hardware/parts/index.ts`,
};

/** Pins and bus for those classes, which Node shows and sets. */
const OF_NODE = ["pins", "bus"].map((name) => `${PLATFORM}node-${name}.ts`);

/** @param modules of the build */
const platform = (modules: ReadonlyMap<string, string>): Plugin => ({
	name: "platform",
	setup(build) {
		build.onResolve({ filter: /\/(pins|bus)\.js$/ }, ({ importer, path }) =>
			importer.startsWith(PLATFORM) && !OF_NODE.includes(importer)
				? { path: `${PLATFORM}node-${basename(path, ".js")}.ts` }
				: undefined,
		);
		build.onResolve({ filter: /^[a-z]/ }, ({ path }) => {
			const own = modules.get(path);
			const file = FILES[path] ?? (own && join(ROOT, own));
			if (file !== undefined) {
				return { path: file };
			}
			return SENSORS[path.replace(SENSOR, "")] && path.startsWith(SENSOR)
				? { path, namespace: "sensor" }
				: { errors: [{ text: `${path}: ${whyMissing(path)}` }] };
		});
		build.onLoad({ filter: /.*/, namespace: "sensor" }, ({ path }) => ({
			contents: `import StandIn from ${JSON.stringify(`${PLATFORM}io/stand-in.ts`)};
				export default class extends StandIn {
					static io = ${JSON.stringify(staticIo(path))};
					constructor(options) {
						super(${JSON.stringify(path.slice(SENSOR.length))}, options);
					}
				}`,
			resolveDir: PLATFORM,
		}));
	},
});

function whyMissing(module: string): string {
	return module.startsWith(SENSOR)
		? `not a sensor of the virtual device. Did you mean ${SENSOR}${closest(module.slice(SENSOR.length), Object.keys(SENSORS))}?`
		: 'not a module of the virtual device, nor one that the manifest names for the platform "virtual"';
}

/** Bundles only modules that the manifests of the build name, as a build for a chip does. */
const named = (modules: ReadonlyMap<string, string>): Plugin => ({
	name: "named",
	setup(build) {
		const files = new Set([...modules.values()].map((path) => path.replace(/\.ts$/, "")));
		build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
			const module = moduleOf(path);
			if (files.has(module) || !(module.startsWith("src/") || isElsewhere(module))) {
				return undefined;
			}
			const what = isElsewhere(module)
				? `${path}: the project's manifest.json does not name`
				: `${module}: no manifest of a virtual device names`;
			return { errors: [{ text: `${what} this module` }] };
		});
	},
});

/** Sets project and version of the firmware, as a build with mcconfig does. */
const identified = (identity: Partial<typeof FIRMWARE>): Plugin => ({
	name: "identity",
	setup(build) {
		build.onLoad({ filter: /\/src\/core\/firmware\.ts$/ }, () => ({
			contents: `export const FIRMWARE = Object.freeze(${JSON.stringify({ ...FIRMWARE, ...identity })});`,
		}));
	},
});

/** Project and version that a build's own manifest defines, as mcconfig takes them: "#1.0.0". */
function readIdentity(manifest: string | undefined): Record<string, string> {
	const { project, version } = (manifest && readManifest(manifest).defines?.firmware) || {};
	return {
		...(project && { name: project.replace(/^#/, "") }),
		...(version && { version: version.replace(/^#/, "") }),
	};
}

/** The target of a virtual device in the manifests. */
const VIRTUAL_TARGET = "virtual";

/** The firmware's entry. */
const FIRMWARE_ENTRY = `${SOURCE}main.ts`;

/**
 * Ends the bundler's process, which otherwise runs as long as this one. {@link bundle} starts it again. No bundle may
 * be in progress.
 */
export const endBundler: () => Promise<void> = stop;

/**
 * Bundles firmware into one script for an engine.
 *
 * ES2022 is the language of XS 13.3. The modules are in a strict block, with `let` in place of esbuild's top-level
 * `var`: otherwise their names would be properties of the global object, which XS searches linearly at every use. They
 * are not in a function, because XS copies a function's code out of the enclosing one, and would hold it twice while
 * loading.
 *
 * @param entry path of the TypeScript module to start with
 * @param isRelease whether names are shortened, which makes stack traces hard to read
 * @param version the firmware's version, if it differs from the source
 * @param manifest path of the build's manifest from the project's folder. Default: the firmware's
 * @returns the script. Rejects with Error that names the file, if it is known
 */
export async function bundle(
	entry: string = FIRMWARE_ENTRY,
	isRelease = false,
	version?: string,
	manifest?: string,
): Promise<string> {
	const modules = readModules(manifest ?? FIRMWARE_MANIFEST, VIRTUAL_TARGET);
	if (manifest !== undefined && !modules.has("src/main")) {
		throw new Error(
			`${shown(manifest)}: "include" lacks the firmware: expected $(XS_MCP)/manifest.json, and XS_MCP in "build"`,
		);
	}
	const result = await build({
		entryPoints: [entry],
		bundle: true,
		write: false,
		format: "esm",
		target: "es2022",
		platform: "neutral",
		legalComments: "none",
		minifySyntax: true,
		minifyIdentifiers: isRelease,
		logLevel: "silent",
		plugins: [
			modulesPlugin(manifest, HARDWARE),
			...(entry === FIRMWARE_ENTRY ? [named(modules)] : []),
			platform(modules),
			identified({ ...readIdentity(manifest), ...(version !== undefined && { version }) }),
		],
	}).catch((error) => {
		throw bundlerErrors(error) ?? error;
	});
	const script = result.outputFiles[0]?.text ?? "";
	// Unless it minifies white space, esbuild starts a line at column 0 for top-level statements only.
	return `"use strict";{\n${script.replace(/^var /gm, "let ")}}\n`;
}

/** The members of a project's device that a virtual device needs before it starts. */
export interface OwnDevice {
	readonly profile: BoardProfile;
	/** Warnings about its parts. */
	readonly warnings: readonly string[];
}

/** The parts with the maker and options that {@link readDevice} recorded: none for parts of a project's functions. */
function ownParts({ parts }: DeviceDefinition): Readonly<Record<string, OwnPart>> {
	const named = Object.entries(parts as Readonly<Record<string, Partial<OwnPart>>>);
	return Object.fromEntries(named.map(([name, { maker = "", options = {} }]) => [name, { maker, options }]));
}

/**
 * Reads the device that a build defines.
 *
 * @param manifest path of the build's manifest from the project's folder
 * @returns undefined if it defines none. Rejects with DeviceError, which names the part, if it cannot be used
 */
export async function readOwnDevice(manifest: string | undefined): Promise<OwnDevice | undefined> {
	const device = manifest === undefined ? undefined : await readDevice(manifest, VIRTUAL_TARGET);
	return (
		device && {
			profile: { ...profileOf(device.board), own: ownParts(device) },
			warnings: [...device.warnings, ...checkDevice(device)],
		}
	);
}
