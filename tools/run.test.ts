import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
	chmodSync,
	copyFileSync,
	cpSync,
	existsSync,
	mkdirSync,
	readFileSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { ROOT } from "xs-mcp/root";
import { temporaryFolder } from "../host-test/support/testing.js";

const RUN = join(ROOT, "tools/run.mjs");

/** Packages that `npm start` needs, that only tests need, and that some computers cannot install; a link to a folder. */
const WANTED = {
	"": { name: "root" },
	"node_modules/used": { version: "1.0.0" },
	"node_modules/own": { resolved: "packages/own", link: true },
	"node_modules/tested": { version: "1.0.0", dev: true },
	"node_modules/of-mac": { version: "1.0.0", optional: true },
};

/** Runs a program where node_modules has some packages. Returns how npm was called: a program that only says so. */
function install(present: object | undefined, omitsDev: boolean): string {
	const root = `${temporaryFolder("xs-mcp-install-")}/`;
	writeFileSync(`${root}package-lock.json`, JSON.stringify({ packages: WANTED }));
	if (present !== undefined) {
		mkdirSync(`${root}node_modules`);
		writeFileSync(`${root}node_modules/.package-lock.json`, JSON.stringify({ packages: present }));
	}
	writeFileSync(join(root, "npm"), `#!/bin/sh\necho "npm $*" >called\n`);
	chmodSync(join(root, "npm"), 0o755);
	mkdirSync(`${root}tools`);
	copyFileSync(RUN, `${root}tools/run.mjs`);
	writeFileSync(`${root}program.mjs`, "");
	const args = [`${root}tools/run.mjs`, ...(omitsDev ? ["--omit=dev"] : []), "program.mjs"];
	const { status, stderr } = spawnSync(process.execPath, args, {
		encoding: "utf8",
		env: { ...process.env, PATH: `${root}:${process.env.PATH}` },
	});
	assert.equal(status, 0, stderr);
	return existsSync(`${root}called`) ? readFileSync(`${root}called`, "utf8").trim() : "";
}

describe("a program of the project", { skip: process.platform === "win32" && "needs sh" }, () => {
	const { "": _, "node_modules/tested": tested, ...needed } = WANTED;

	it("installs on a fresh clone only what it needs", () => {
		assert.equal(install(undefined, true), "npm ci --omit=dev --loglevel=error");
		assert.equal(install(undefined, false), "npm ci --loglevel=error");
	});

	it("installs nothing that is installed", () => {
		assert.equal(install(needed, true), "");
		assert.equal(install({ ...needed, "node_modules/tested": tested }, false), "");
	});

	it("installs the rest if it needs it", () => {
		assert.equal(install(needed, false), "npm ci --loglevel=error");
	});

	it("installs a link that is missing", () => {
		const { "node_modules/own": _own, ...present } = needed;
		assert.equal(install(present, true), "npm ci --omit=dev --loglevel=error");
	});

	it("keeps the packages for development when another package has a new version", () => {
		const old = { "node_modules/used": { version: "0.9.0" }, "node_modules/tested": tested };
		assert.equal(install(old, true), "npm ci --loglevel=error");
	});
});

it("tools/run.mjs runs TypeScript in a folder with a space, a non-ASCII letter, # and %", () => {
	const folder = join(temporaryFolder(), "mein Gerät 日 #1 %20");
	mkdirSync(folder);
	for (const path of ["package.json", "package-lock.json", "tsconfig.json", "packages/tsconfig.json", "tools"]) {
		cpSync(join(ROOT, path), join(folder, path), { recursive: true });
	}
	symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
	writeFileSync(join(folder, "hello.ts"), 'const text: string = "runs";\nconsole.log(text);\n');
	const { stdout, stderr } = spawnSync(process.execPath, ["tools/run.mjs", "hello.ts"], {
		cwd: folder,
		encoding: "utf8",
		// The loader of this process has set it.
		env: { ...process.env, TS_NODE_PROJECT: undefined },
	});
	assert.equal(stdout, "runs\n", stderr);
});
