import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "./temporary-folder.js";

const NODE_MODULES = fileURLToPath(new URL("../../node_modules/", import.meta.url));

interface Published {
	readonly manifest: { readonly name: string; readonly version: string };
	readonly tarball: Buffer;
}

/** A registry of npm packages on the loopback address. */
export interface Registry {
	/** For npm's setting `registry`. */
	readonly url: string;
	/** What was asked for and is not here. */
	readonly missing: readonly string[];
	/** Publishes a tarball, beside the versions that are there. */
	publish(tarball: string): void;
	close(): void;
}

/**
 * Starts a registry that has given tarballs, and what is installed in this repository: each package in the version that is
 * here.
 */
export async function openRegistry(tarballs: readonly string[]): Promise<Registry> {
	const packages = new Map<string, Published[]>();
	const missing: string[] = [];
	const publish = (tarball: string): void => void add(packages, readTarball(readFileSync(tarball)));
	for (const tarball of tarballs) {
		publish(tarball);
	}
	const server = createServer(({ url = "/" }, response) => {
		const [name = "", version] = decodeURIComponent(url.slice(1)).split("/-/");
		const versions = packages.get(name) ?? installed(packages, name);
		if (versions === undefined) {
			missing.push(name);
			response.writeHead(404).end("{}");
		} else if (version === undefined) {
			response.writeHead(200, { "Content-Type": "application/json" });
			response.end(JSON.stringify(describe(versions, address(server.address()))));
		} else {
			response.end(versions.find(({ manifest }) => `${manifest.version}.tgz` === version)?.tarball);
		}
	});
	await once(server.listen(0, "127.0.0.1"), "listening");
	return { url: address(server.address()), missing, publish, close: () => void server.close() };
}

function address(of: AddressInfo | string | null): string {
	return `http://127.0.0.1:${(of as AddressInfo).port}/`;
}

function add(packages: Map<string, Published[]>, published: Published): Published[] {
	const { name } = published.manifest;
	const versions = [...(packages.get(name) ?? []), published];
	packages.set(name, versions);
	return versions;
}

/** Packs a package that is installed here. Undefined if it is not, or is one of this repository. */
function installed(packages: Map<string, Published[]>, name: string): Published[] | undefined {
	const folder = join(NODE_MODULES, name);
	if (!existsSync(join(folder, "package.json")) || name.startsWith("xs-mcp")) {
		return undefined;
	}
	const place = temporaryFolder();
	symlinkSync(folder, join(place, "package"));
	const tarball = execFileSync("tar", ["-chzf", "-", "-C", place, "package"], { maxBuffer: 2 ** 30 });
	return add(packages, readTarball(tarball));
}

function readTarball(tarball: Buffer): Published {
	const manifest = execFileSync("tar", ["-xzOf", "-", "package/package.json"], { input: tarball });
	return { manifest: JSON.parse(String(manifest)), tarball };
}

function describe(versions: readonly Published[], url: string): object {
	const latest = versions.at(-1)?.manifest;
	return {
		name: latest?.name,
		"dist-tags": { latest: latest?.version },
		versions: Object.fromEntries(
			versions.map(({ manifest, tarball }) => [
				manifest.version,
				{
					...manifest,
					dist: {
						tarball: `${url}${manifest.name}/-/${manifest.version}.tgz`,
						integrity: `sha512-${createHash("sha512").update(tarball).digest("base64")}`,
					},
				},
			]),
		),
	};
}
