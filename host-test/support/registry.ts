import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { ROOT } from "xs-mcp/root";
import { temporaryFolder } from "./testing.js";

/** The folders of installed packages, with the package's name where the folder has an alias. Some are in several versions. */
const INSTALLED: readonly (readonly [path: string, lock: { readonly name?: string }])[] = Object.entries<{
	readonly name?: string;
}>(JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")).packages).filter(([path]) =>
	existsSync(join(ROOT, path, "package.json")),
);

interface Published {
	readonly manifest: { readonly name: string; readonly version: string };
	readonly tarball: Buffer;
}

export interface Registry {
	readonly url: string;
	readonly missing: readonly string[];
	publish(tarball: string): void;
	close(): void;
}

/**
 * Starts a registry with given tarballs and the packages of this repository: each package in the versions that are
 * here.
 */
export async function openRegistry(tarballs: readonly string[]): Promise<Registry> {
	const packages = new Map<string, Published[]>();
	const missing: string[] = [];
	const publish = (tarball: string): void => add(packages, readTarball(readFileSync(tarball)));
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

function add(packages: Map<string, Published[]>, published: Published): void {
	const { name } = published.manifest;
	packages.set(name, [...(packages.get(name) ?? []), published]);
}

function installed(packages: Map<string, Published[]>, name: string): Published[] | undefined {
	const folders = INSTALLED.filter(
		([path, lock]) => (lock.name === name || path.endsWith(`node_modules/${name}`)) && !name.startsWith("xs-mcp"),
	);
	for (const [folder] of folders) {
		const place = temporaryFolder();
		symlinkSync(join(ROOT, folder), join(place, "package"));
		const tarball = execFileSync("tar", ["-chzf", "-", "-C", place, "package"], { maxBuffer: 2 ** 30 });
		const published = readTarball(tarball);
		if (!packages.get(name)?.some(({ manifest }) => manifest.version === published.manifest.version)) {
			add(packages, published);
		}
	}
	return packages.get(name);
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
