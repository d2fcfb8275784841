// npm run pack: makes the packages that are published.
import { spawnSync } from "node:child_process";
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Argument } from "commander";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";
import { makeProgram, ProgramError, readJson, runProgram } from "xs-mcp/build/program";
import { bundlePackage, OWN_PACKAGES } from "xs-mcp/bundle";
import { ROOT } from "xs-mcp/root";
import { FIRMWARE } from "xs-mcp-firmware/core/firmware";
import { repositoryLinks } from "./repository-links.js";

/** Folders of the packages. */
const PACKAGES = ["packages/manager", "packages/gateway", "packages/pi", "packages/xs-mcp", "packages/xs-mcp/create"];

type Versions = Readonly<Record<string, string>>;

/** A package.json of the sources. It has no version, so that npm refuses to pack them. */
interface Sources {
	readonly bundle: {
		readonly entryPoints: Versions;
		readonly types?: readonly string[];
		readonly external?: readonly string[];
		/** Paths that keep their places. */
		readonly sources?: readonly string[];
	};
	readonly publishConfig: { readonly dependencies?: Versions };
	readonly dependencies?: Versions;
	readonly optionalDependencies?: Versions;
	readonly engines: Versions;
	/** In the root package.json alone: "github:OWNER/NAME", the public address of all packages. */
	readonly repository?: string;
}

await runProgram(
	makeProgram("npm run pack --", "Makes the tarballs of packages, and the gateway's extension for Claude Desktop.")
		.addArgument(new Argument("[packages...]", "their folders (default: all)").choices(PACKAGES))
		.option("--to <folder>", "where they are made", "dist")
		.action(async (packages: readonly string[], { to }: { readonly to: string }) => {
			for (const name of packages.length === 0 ? PACKAGES : packages) {
				await pack(name, resolve(to));
			}
		}),
);

/** Makes the tarball of a package, and of the gateway also its extension for Claude Desktop. @throws ProgramError if npm fails */
async function pack(name: string, folder: string): Promise<void> {
	const manifest = readJson<Sources>(join(ROOT, name, "package.json"));
	const { bundle, publishConfig, optionalDependencies = {} } = manifest;
	const target = join(folder, "package");
	rmSync(target, { recursive: true, force: true });
	await bundlePackage(name, target, false);
	await bundleTypes(bundle, target);
	for (const path of bundle.sources ?? []) {
		cpSync(join(ROOT, path), join(target, path), { recursive: true });
	}
	if (name === "packages/xs-mcp") {
		addFirmware(target);
	}
	cpSync(join(ROOT, name, "README.md"), join(target, "README.md"));
	const { engines, dependencies, repository } = readJson<Sources>(join(ROOT, "package.json"));
	const known: Versions = { ...dependencies, ...publishConfig.dependencies };
	const own = Object.entries(optionalDependencies).map(([each, range]) => [
		each,
		range === "*" ? FIRMWARE.version : range,
	]);
	writeJson(join(target, "package.json"), {
		...manifest,
		version: FIRMWARE.version,
		...repositoryLinks(repository, name),
		engines,
		...publishConfig,
		dependencies: Object.fromEntries((bundle.external ?? []).map((each) => [each, known[each]])),
		optionalDependencies: Object.fromEntries(own),
		...Object.fromEntries(
			["private", "scripts", "devDependencies", "publishConfig", "bundle"].map((each) => [each, undefined]),
		),
	});
	const { status } = spawnSync("npm", ["pack", "./package", "--loglevel=error"], {
		cwd: folder,
		stdio: ["ignore", 2, 2],
		shell: process.platform === "win32",
	});
	if (status !== 0) {
		throw new ProgramError(`npm pack ${name} failed: npm's error is above`);
	}
	if (name === "packages/gateway") {
		const { makeExtension } = await import(pathToFileURL(join(target, "claude-extension.js")).href);
		writeFileSync(join(folder, "xs-mcp-gateway.mcpb"), await makeExtension(target));
	}
	rmSync(target, { recursive: true });
}

/** Writes the types of a package's libraries, with those of the packages in its bundle: a program that uses it needs none of these. */
async function bundleTypes({ types = [], entryPoints }: Sources["bundle"], target: string): Promise<void> {
	if (types.length === 0) {
		return;
	}
	// Without these, the plugin takes our packages for foreign ones, and compiles them again for each of their files.
	const paths = Object.fromEntries(
		Object.entries(OWN_PACKAGES).flatMap(([each, file]) => [
			[each, [file]],
			[`${each}/*`, [`${file}/*`]],
		]),
	);
	const bundle = await rollup({
		input: Object.fromEntries(types.map((each) => [each, join(ROOT, String(entryPoints[each]))])),
		// The types of mqtt and pino cannot be bundled.
		external: [/^node:/, "mqtt", "pino"],
		onwarn: () => {},
		plugins: [
			dts({
				respectExternal: true,
				tsconfig: join(ROOT, "packages/tsconfig.json"),
				compilerOptions: { composite: false, incremental: false, paths },
			}),
		],
	});
	await bundle.write({ dir: join(target, "types"), format: "es" });
	await bundle.close();
}

/** Adds the manifests and the engine's sources. */
function addFirmware(target: string): void {
	for (const name of ["manifest.json", "src/build/manifest_minimal.json"]) {
		// mcconfig would take the name of an included manifest for the project's.
		writeJson(join(target, name), { ...readJson<object>(join(ROOT, name)), build: undefined });
	}
	for (const folder of ["includes", "platforms", "sources"]) {
		const engine = join(ROOT, "node_modules/@agoric/xsnap/moddable/xs", folder);
		cpSync(engine, join(target, "virtual-device/xs", folder), { recursive: true });
	}
	cpSync(join(ROOT, "packages/virtual-device/licences"), join(target, "virtual-device/xs"), { recursive: true });
}

function writeJson(path: string, content: object): void {
	writeFileSync(path, `${JSON.stringify(content, undefined, "\t")}\n`);
}
