import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { buildFolder, type FirmwarePlan, firmwareProgram } from "../../../scripts/moddable/firmware.js";
import { readImage } from "../../../scripts/moddable/images.js";
import { configureBuild } from "../../../scripts/moddable/mcconfig.js";
import { FIRMWARE } from "../../../src/settings/firmware.js";
import { typeScript } from "../../e2e/program.js";
import { noSdk, sdk } from "../../support/sdk.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** As ESP-IDF writes it for an ESP32-S3 with two app partitions. */
const FLASHER_ARGS = {
	write_flash_args: ["--flash_mode", "dio", "--flash_size", "16MB", "--flash_freq", "80m"],
	flash_settings: { flash_mode: "dio", flash_size: "16MB", flash_freq: "80m" },
	flash_files: {
		"0x0": "bootloader/bootloader.bin",
		"0x20000": "xs_esp32.bin",
		"0x8000": "partition_table/partition-table.bin",
		"0xf000": "ota_data_initial.bin",
	},
	bootloader: { offset: "0x0", file: "bootloader/bootloader.bin", encrypted: "false" },
	app: { offset: "0x20000", file: "xs_esp32.bin", encrypted: "false" },
	"partition-table": { offset: "0x8000", file: "partition_table/partition-table.bin", encrypted: "false" },
	otadata: { offset: "0xf000", file: "ota_data_initial.bin", encrypted: "false" },
	extra_esptool_args: { after: "hard_reset", before: "default_reset", stub: true, chip: "esp32s3" },
};

/** A finished build of ESP-IDF, as far as it is read. */
function makeBuild(change: object = {}, chip = "esp32s3"): string {
	const folder = temporaryFolder();
	const args = { ...FLASHER_ARGS, extra_esptool_args: { ...FLASHER_ARGS.extra_esptool_args, chip }, ...change };
	writeFileSync(join(folder, "flasher_args.json"), JSON.stringify(args));
	for (const file of Object.values(FLASHER_ARGS.flash_files)) {
		mkdirSync(dirname(join(folder, file)), { recursive: true });
		writeFileSync(join(folder, file), `contents of ${file}`);
	}
	return folder;
}

function firmware(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
	return spawnSync(process.execPath, typeScript("scripts/moddable/firmware-cli.ts", ...args), {
		cwd: ROOT,
		env: { ...process.env, ...env },
		encoding: "utf8",
	});
}

describe("npm run firmware", () => {
	it("writes the images, manifest and checksums of each board, and the arguments of the command that flashes them", () => {
		const output = join(temporaryFolder(), "release");
		const boards = [`--from=m5stack_cores3=${makeBuild()}`, `--from=esp32=${makeBuild({}, "esp32")}`];
		const { status, stdout, stderr } = firmware([...boards, "--output", output]);
		assert.equal(status, 0, stderr);
		assert.match(stdout, /m5stack_cores3, esp32, SHA256SUMS$/m);
		assert.deepEqual(readdirSync(output).sort(), ["SHA256SUMS", "esp32", "m5stack_cores3"]);
		const manifest = readFileSync(join(output, "m5stack_cores3", "manifest.json"), "utf8");
		const { name, version, builds } = JSON.parse(manifest);
		assert.deepEqual([name, version], ["xs-mcp for m5stack_cores3", FIRMWARE.version]);
		assert.deepEqual(builds, [
			{
				chipFamily: "ESP32-S3",
				parts: [
					{ path: "bootloader.bin", offset: 0 },
					{ path: "partition-table.bin", offset: 0x8000 },
					{ path: "ota_data_initial.bin", offset: 0xf000 },
					{ path: "xs_esp32.bin", offset: 0x20000 },
				],
			},
		]);
		assert.match(readFileSync(join(output, "esp32", "manifest.json"), "utf8"), /"chipFamily": "ESP32"/);
		assert.equal(
			readFileSync(join(output, "m5stack_cores3", "flash_args"), "utf8"),
			"--flash_mode dio --flash_size 16MB --flash_freq 80m\n" +
				"0x0 bootloader.bin\n0x8000 partition-table.bin\n0xf000 ota_data_initial.bin\n0x20000 xs_esp32.bin\n",
		);
	});

	it("writes checksums that sha256sum confirms", {
		skip: process.platform !== "linux" && "sha256sum is of Linux",
	}, () => {
		const output = temporaryFolder();
		assert.equal(firmware([`--from=esp32=${makeBuild()}`, "--output", output]).status, 0);
		const checked = execFileSync("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: output, encoding: "utf8" });
		assert.equal(checked.match(/: OK$/gm)?.length, 4);
	});

	it("leaves nothing of an earlier release, and removes nothing else", () => {
		const output = join(temporaryFolder(), "release");
		const release = () => firmware([`--from=esp32=${makeBuild()}`, "--output", output]);
		assert.equal(release().status, 0);
		renameSync(join(output, "esp32"), join(output, "old-board"));
		const sums = readFileSync(join(output, "SHA256SUMS"), "utf8");
		writeFileSync(join(output, "SHA256SUMS"), sums.replaceAll("  esp32/", "  old-board/"));
		assert.equal(release().status, 0);
		assert.ok(!existsSync(join(output, "old-board")));
		writeFileSync(join(output, "thesis.txt"), "");
		assert.match(release().stderr, /--output: .* contains files that are not part of a release: thesis.txt/);
		assert.ok(existsSync(join(output, "thesis.txt")));
		rmSync(join(output, "thesis.txt"));
		rmSync(join(output, "SHA256SUMS"));
		const { status, stderr } = release();
		assert.equal(status, 1);
		assert.match(stderr, /--output: .* contains files that are not part of a release/);
		assert.ok(existsSync(join(output, "esp32")));
	});

	it("rejects settings that everybody could read in the image", () => {
		for (const setting of ["password=12345678", "token=x", "httpToken=x", "hmacKey=00", "setupPassword=12345678"]) {
			const { status, stderr } = firmware(["--target", "esp32", setting]);
			assert.equal(status, 1);
			assert.match(stderr, new RegExp(`error: ${setting.split("=")[0]}: would be readable in the published image`));
		}
	});

	it("builds every board and chip of docs/boards.md with --target all", {
		skip: noSdk,
	}, async () => {
		const plans: FirmwarePlan[] = [];
		const program = firmwareProgram(async (plan) => void plans.push(plan), { ...process.env, IDF_PATH: ROOT });
		await program.parseAsync(["--target", "all"], { from: "user" });
		const table = readFileSync(join(ROOT, "docs", "boards.md"), "utf8").matchAll(/^\| `(\S+)` \| esp32\w* \|/gm);
		const names = plans[0]?.build?.targets.map(({ name }) => name);
		assert.deepEqual(names?.sort(), [...table].map(([, name]) => name).sort());
	});

	it("says what is missing", () => {
		assert.match(firmware([]).stderr, /--target or --from is missing/);
		assert.match(firmware(["--from", "esp32"]).stderr, /Expected BOARD=FOLDER, got esp32/);
		assert.match(firmware(["--target", "esp32"], { MODDABLE: "" }).stderr, /MODDABLE is not set/);
		const twice = firmware([`--from=a=${makeBuild()}`, `--from=a=${makeBuild()}`, "--output", temporaryFolder()]);
		assert.match(twice.stderr, /duplicate board/);
	});
});

describe("a build of ESP-IDF", () => {
	it("is rejected, with the file, if it is not finished or not as ESP-IDF writes it", () => {
		assert.throws(
			() => readImage("esp32", temporaryFolder()),
			/flasher_args\.json does not exist: ESP-IDF has not finished/,
		);
		const broken = makeBuild();
		writeFileSync(join(broken, "flasher_args.json"), "{");
		assert.throws(() => readImage("esp32", broken), /flasher_args\.json: .*JSON/);
		for (const change of [{ flash_files: undefined }, { write_flash_args: "x" }, { extra_esptool_args: {} }]) {
			assert.throws(() => readImage("esp32", makeBuild(change)), /or extra_esptool_args\.chip is missing/);
		}
		for (const files of [{ "1000": "a.bin" }, { "0x1000": 5 }]) {
			assert.throws(() => readImage("esp32", makeBuild({ flash_files: files })), /expected an offset such as 0x1000/);
		}
		assert.throws(
			() => readImage("esp32", makeBuild({ flash_files: { "0x0": "gone.bin" } })),
			/gone\.bin does not exist, though flasher_args\.json names it/,
		);
	});

	it("is read from the folder of its chip: mcconfig's settings make one for each chip", {
		skip: noSdk,
	}, async () => {
		const name = "esp32/m5stack_cores3";
		const program = await configureBuild(sdk, ROOT, name);
		const output = program.slice(0, program.indexOf("/tmp/esp32"));
		const folder = buildFolder(output, { name, chip: "esp32s3" }, "xs-mcp");
		assert.ok(existsSync(dirname(folder)), folder);
		renameSync(makeBuild(), folder);
		assert.equal(readImage("m5stack_cores3", folder).chip, "esp32s3");
	});
});
