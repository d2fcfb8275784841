import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { strFromU8, unzipSync } from "fflate";
import { parse } from "yaml";
import { notesOf, refuseUnreleased, writeChecksums, zipFolder } from "../../../scripts/release/release.js";
import { FIRMWARE } from "../../../src/settings/firmware.js";
import { typeScript } from "../../e2e/program.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

describe("a release", () => {
	it("has the notes of its version alone", () => {
		const changelog = "# Changelog\n\n## 1.1.0 - 2026-01-02\n\n### Added\n\n- A\n\n## 1.0.0\n\n- B\n\n## 0.9.0\n";
		assert.equal(notesOf(changelog, "1.1.0"), "### Added\n\n- A\n");
		assert.equal(notesOf(changelog, "1.0.0"), "- B\n");
		assert.throws(() => notesOf(changelog, "0.9.0"), /nothing under "## 0.9.0"/);
		assert.throws(() => notesOf(changelog, "2.0.0"), /nothing under "## 2.0.0"/);
	});

	it("has notes for the version of the sources", () => {
		assert.match(notesOf(readFileSync(`${ROOT}CHANGELOG.md`, "utf8"), FIRMWARE.version), /^- /m);
	});

	it("is refused while changes are unreleased", () => {
		assert.throws(
			() => refuseUnreleased("# Changelog\n\n## Unreleased\n\n- C\n\n## 1.0.0\n\n- B\n"),
			/"## Unreleased": set/,
		);
		refuseUnreleased("# Changelog\n\n## Unreleased\n\n## 1.0.0\n\n- B\n");
		refuseUnreleased("# Changelog\n\n## 1.0.0\n\n- B\n");
	});

	it("stands in the changelog with its date, the newest first", () => {
		const headings = readFileSync(`${ROOT}CHANGELOG.md`, "utf8").match(/^## .*$/gm) ?? [];
		const [first, ...others] = headings;
		const released = first === "## Unreleased" ? others : headings;
		const versions = released.map((each) =>
			/^## (\d+)\.(\d+)\.(\d+) - \d{4}-\d\d-\d\d$/.exec(each)?.slice(1).map(Number),
		);
		assert.ok(
			versions.every((each) => each !== undefined),
			released.join("\n"),
		);
		const sorted = [...versions].sort(
			(a = [], b = []) => a.map((part, at) => (b[at] ?? 0) - part).find((each) => each !== 0) ?? 0,
		);
		assert.deepEqual(versions, sorted);
	});

	it("names the missing tools of an image before all else", () => {
		const { MODDABLE, IDF_PATH, ...env } = process.env;
		const { status, stdout, stderr } = spawnSync(
			process.execPath,
			typeScript("scripts/release/release-cli.ts", "--target", "esp32"),
			{ cwd: ROOT, env, encoding: "utf8" },
		);
		assert.equal(status, 1, stderr);
		assert.match(stdout, /^missing +Moddable SDK: MODDABLE is not set/m);
		assert.match(stdout, /^missing +ESP-IDF: IDF_PATH is not set/m);
		assert.match(stderr, /doctor -- --for build failed/);
	});

	it("has checksums that sha256sum accepts", (_t) => {
		const folder = temporaryFolder("xs-mcp-release-");
		writeFileSync(join(folder, "b.tgz"), "b");
		writeFileSync(join(folder, "a.bin"), "a");
		assert.deepEqual(writeChecksums(folder), ["a.bin", "b.tgz"]);
		assert.deepEqual(writeChecksums(folder), ["a.bin", "b.tgz"]);
		execFileSync("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: folder, stdio: "ignore" });
	});

	it("is made by the workflow with a script of package.json, after CI's", () => {
		const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8"));
		const workflow = parse(readFileSync(`${ROOT}.github/workflows/release.yml`, "utf8"));
		const commands = workflow.jobs.release.steps.flatMap(({ run = "" }) => run.split("\n"));
		assert.ok(commands.includes("bash .ci/run"));
		const [, name] = commands.join("\n").match(/^npm run (\S+) -- --no-checks --to release$/m) ?? [];
		assert.ok(name !== undefined && name in scripts, name);
	});
});

it("puts the images of boards into one file, with their manifests", () => {
	const folder = temporaryFolder();
	mkdirSync(join(folder, "esp32c3"));
	writeFileSync(join(folder, "SHA256SUMS"), "sums");
	writeFileSync(join(folder, "esp32c3", "manifest.json"), "{}");
	const files = unzipSync(zipFolder(folder));
	assert.deepEqual(Object.keys(files).sort(), ["SHA256SUMS", "esp32c3/manifest.json"]);
	assert.equal(strFromU8(files["esp32c3/manifest.json"] ?? new Uint8Array()), "{}");
});
