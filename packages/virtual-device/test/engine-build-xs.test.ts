import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, mkdir, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, test } from "node:test";
import { promisify } from "node:util";
import { temporaryFolder } from "../../../host-test/support/testing.js";
import { buildXsHost, CACHE_FOLDER } from "../src/engine/build-xs.js";
import { noXs } from "./test-engines.js";

const compilerOfCaller = process.env.CC;

/** Makes $CC a script that stands in for a compiler. */
async function pretend(script: string): Promise<void> {
	const folder = temporaryFolder("xs-mcp-test-");
	process.env.CC = join(folder, "cc");
	await writeFile(
		process.env.CC,
		`#!/bin/sh\ncase "$*" in *--version*) echo "pretended $$"; exit 0;; esac\n${script}\n`,
	);
	await chmod(process.env.CC, 0o755);
}

const windows = process.platform === "win32";

describe("the host of XS", () => {
	afterEach(() => {
		if (compilerOfCaller === undefined) {
			delete process.env.CC;
		} else {
			process.env.CC = compilerOfCaller;
		}
	});

	test("builds a program that runs", { skip: noXs }, async () => {
		await assert.rejects(promisify(execFile)(await buildXsHost(), ["--unknown"]), { code: 2 });
	});

	test("returns the same program again, without output", { skip: noXs }, async () => {
		const onProgress = () => assert.fail("nothing is to be built");
		assert.equal(await buildXsHost(undefined, onProgress), await buildXsHost(undefined, onProgress));
	});

	test("reports a missing compiler", async () => {
		process.env.CC = "/nowhere/cc";
		await assert.rejects(buildXsHost(), { code: "no-compiler", message: /\/nowhere\/cc/ });
	});

	test("reports the compiler's output when it fails", { skip: windows }, async () => {
		await pretend("echo 'file.c:1: it is broken' >&2; exit 1");
		await assert.rejects(buildXsHost(), { code: "compile-failed", message: /: file\.c:1: it is broken$/ });
	});

	test("removes the folders of interrupted builds, and no other's", { skip: windows }, async () => {
		const [interrupted, underWay] = ["build-test-1", "build-test-2"];
		for (const name of [interrupted, underWay]) {
			await mkdir(join(CACHE_FOLDER, name, "result"), { recursive: true });
		}
		await utimes(join(CACHE_FOLDER, interrupted), 0, 0);
		await pretend("exit 1");
		await assert.rejects(buildXsHost(), { code: "compile-failed" });
		const left = await readdir(CACHE_FOLDER);
		assert.deepEqual([left.includes(interrupted), left.includes(underWay)], [false, true]);
		await rm(join(CACHE_FOLDER, underWay), { recursive: true });
	});

	test("reports a compiler without 32-bit support", { skip: windows }, async () => {
		await pretend('case "$*" in *-m32*) echo "no -m32" >&2; exit 1;; esac');
		await assert.rejects(buildXsHost(32), { code: "no-32-bit-compiler" });
	});

	test("runs 32-bit programs in QEMU if the computer cannot", { skip: windows }, async () => {
		const program = "#!/bin/sh\nexit 2\n";
		await pretend(`for last; do :; done; printf '${program}' >"$last"; chmod +x "$last"`);
		const folder = temporaryFolder("xs-mcp-test-");
		await writeFile(join(folder, "qemu-i386"), '#!/bin/sh\ncase "$1" in *probe) exit 0;; esac\necho "$@"\n');
		await chmod(join(folder, "qemu-i386"), 0o755);
		const { PATH } = process.env;
		process.env.PATH = `${folder}:${PATH}`;
		try {
			const host = await buildXsHost(32);
			const { stdout } = await promisify(execFile)(host, ["--slots", "1"]);
			assert.equal(stdout, `${join(host, "../emulated")} --slots 1\n`);
		} finally {
			process.env.PATH = PATH;
		}
	});

	test("reports a computer that builds 32-bit programs, but cannot run them", { skip: windows }, async () => {
		const program = "#!/bin/sh\nexit 2\n";
		await pretend(`for last; do :; done; printf '${program}' >"$last"; chmod +x "$last"`);
		await assert.rejects(buildXsHost(32), {
			code: "no-32-bit-programs",
			message: /^This computer cannot run 32-bit programs: .*; install qemu-user, which can$/,
		});
	});
});
