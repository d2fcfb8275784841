import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { it } from "node:test";
import { ROOT } from "xs-mcp/root";
import { temporaryFolder } from "../host-test/support/testing.js";

interface LockedPackage {
	readonly dev?: boolean;
	/** Of a workspace: its folder. */
	readonly link?: boolean;
	readonly resolved?: string;
}

/** A clone of this repository with only the packages that `npm ci --omit=dev` installs. */
function cloneWithoutDev(): string {
	const clone = temporaryFolder("xs-mcp-first-");
	for (const path of execFileSync("git", ["ls-files"], { cwd: ROOT, encoding: "utf8" }).trim().split("\n")) {
		if (existsSync(join(ROOT, path))) {
			cpSync(join(ROOT, path), join(clone, path));
		}
	}
	const lock = JSON.parse(readFileSync(join(ROOT, "node_modules/.package-lock.json"), "utf8"));
	const packages = Object.entries(lock.packages as Record<string, LockedPackage>).filter(([, { dev }]) => !dev);
	for (const [path, { link, resolved = "" }] of packages) {
		// Packages in a package's own node_modules come with it.
		if (path.split("node_modules/").length === 2) {
			mkdirSync(dirname(join(clone, path)), { recursive: true });
			symlinkSync(link ? join(clone, resolved) : join(ROOT, path), join(clone, path), "dir");
		}
	}
	writeFileSync(
		join(clone, "node_modules/.package-lock.json"),
		JSON.stringify({ packages: Object.fromEntries(packages) }),
	);
	return clone;
}

it("a fresh clone without packages for development runs npm start, the gateway and the virtual device, and installs nothing more", {
	skip: process.platform === "win32" && "needs links",
}, () => {
	const clone = cloneWithoutDev();
	for (const [script, ...args] of [
		["start", "--once", "--engine", "v8"],
		["gateway", "--version"],
		["device", "--help"],
	] as const) {
		const { status, stdout, stderr } = spawnSync("npm", ["run", script, "--", ...args], {
			cwd: clone,
			encoding: "utf8",
		});
		assert.equal(status, 0, `${script}: ${stdout}${stderr}`);
		assert.doesNotMatch(stderr, /Installing/);
	}
});
