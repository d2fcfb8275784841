import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { FIRMWARE } from "xs-mcp-firmware/core/firmware";
import { typeScript } from "../../../host-test/support/program.js";
import { temporaryFolder } from "../../../host-test/support/testing.js";
import { ROOT } from "../src/root.js";
import { makeSdk } from "./made-up-sdk.js";

/** The first files of ESP-IDF's build for two app partitions, by their offsets. */
const FILES = {
	"0x0": "bootloader/bootloader.bin",
	"0x20000": "xs_esp32.bin",
	"0x8000": "partition_table/partition-table.bin",
	"0xf000": "ota_data_initial.bin",
};

/** A build of ESP-IDF that makes a folder for each target. The variable NO leaves a file out. */
const BUILD = `
while [ $# -gt 0 ]; do
	case "$1" in -o) output=$2;; -p) target=$2;; esac
	shift
done
case $target in
esp32) chip=esp32;;
esp32:*) chip=$(sed -n 's/.*"ESP32_SUBCLASS": "\\(.*\\)".*/\\1/p' "\${target#esp32:}/manifest.json");;
*) chip=esp32s3;;
esac
case $target in esp32:*) place=esp32/generated;; *) place=$target;; esac
folder=$output/tmp/$place/release/xs-mcp/xsProj-\${chip:=esp32}/build
rm -rf "$folder" && mkdir -p "$folder/bootloader" "$folder/partition_table" && cd "$folder"
for file in ${Object.values(FILES).join(" ")}; do echo "$file for $target" > $file; done
cat > flasher_args.json <<END
{
	"write_flash_args": ["--flash_mode", "dio", "--flash_size", "16MB", "--flash_freq", "80m"],
	"flash_files": ${JSON.stringify(FILES)},
	"extra_esptool_args": { "after": "hard_reset", "stub": true, "chip": "$chip" }
}
END
[ -z "$NO" ] || rm "$NO"
`;

const { env, ran } = makeSdk(BUILD);

function firmware(args: readonly string[], more: NodeJS.ProcessEnv = {}) {
	return spawnSync(process.execPath, typeScript("packages/xs-mcp/src/xs-mcp-cli.ts", "firmware", ...args), {
		cwd: ROOT,
		env: { ...env, ...more },
		encoding: "utf8",
	});
}

describe("xs-mcp firmware", { skip: process.platform === "win32" && "the wrappers do not run on Windows" }, () => {
	// Later builds must not find what was made here.
	after(() => rmSync(join(ROOT, ".cache/moddable/firmware-release"), { recursive: true, force: true }));

	it("writes the images, manifest and checksums of each board, and the arguments of the command that flashes them", () => {
		const output = join(temporaryFolder(), "release");
		const boards = ["--target", "esp32/m5stack_cores3", "--target", "esp32"];
		const { status, stdout, stderr } = firmware([...boards, "--output", output, "otaUrl=https://example.org/"]);
		assert.equal(status, 0, stderr);
		assert.match(stdout, /m5stack_cores3, esp32, SHA256SUMS$/m);
		assert.match(ran()[0] ?? "", /-p esp32\/m5stack_cores3 -t build otaUrl=https:\/\/example\.org\/ /);
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
		assert.equal(firmware(["--target", "esp32", "--output", output]).status, 0);
		const checked = execFileSync("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: output, encoding: "utf8" });
		assert.equal(checked.match(/: OK$/gm)?.length, 6);
	});

	it("leaves nothing of an earlier release, and removes nothing else", () => {
		const output = join(temporaryFolder(), "release");
		const release = () => firmware(["--target", "esp32", "--output", output]);
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
		for (const setting of [
			"password=12345678",
			"token=x",
			"hmacKey=00",
			'networks=[["home","12345678"]]',
			"ssid=home",
		]) {
			const { status, stderr } = firmware(["--target", "esp32", setting]);
			assert.equal(status, 1);
			assert.match(stderr, new RegExp(`error: ${setting.split("=")[0]}: would be readable in the published image`));
		}
	});

	it("builds every board and chip that the firmware names with --target all", () => {
		const { platforms } = JSON.parse(readFileSync(join(ROOT, "src/build/manifest_minimal.json"), "utf8"));
		const named = Object.keys(platforms).filter((name) => /^esp32($|\/)/.test(name) && !name.includes("*"));
		const { env, ran } = makeSdk(
			BUILD,
			named.flatMap((name) => name.split("/").slice(1)),
		);
		ran();
		assert.equal(firmware(["--target", "all", "--output", temporaryFolder()], env).status, 0);
		const built = ran().map((line) => /-p (\S+)/.exec(line)?.[1]);
		assert.deepEqual(built.sort(), named.sort());
	});

	it("builds an image for each of several boards that are data", () => {
		const boards = ["m5atom_lite", "m5nanoc6"];
		const { env } = makeSdk(BUILD, ["esp32c6"]);
		const output = join(temporaryFolder(), "release");
		const { status, stderr } = firmware(
			[...boards.flatMap((board) => ["--target", `esp32/${board}`]), "--output", output],
			env,
		);
		assert.equal(status, 0, stderr);
		for (const board of boards) {
			assert.match(readFileSync(join(output, board, "xs_esp32.bin"), "utf8"), new RegExp(`/${board}\n`));
		}
	});

	it("says what is missing", () => {
		assert.match(firmware([]).stderr, /--target is missing/);
		assert.match(firmware(["--target", "esp32"], { MODDABLE: "" }).stderr, /MODDABLE is not set/);
		assert.match(firmware(["--target", "esp32"], { IDF_PATH: "" }).stderr, /IDF_PATH is not set/);
	});

	it("rejects a build of ESP-IDF that is not finished, and names the file", () => {
		const without = (NO: string) => firmware(["--target", "esp32", "--output", temporaryFolder()], { NO }).stderr;
		assert.match(without("flasher_args.json"), /flasher_args\.json does not exist: ESP-IDF has not finished/);
		assert.match(without("xs_esp32.bin"), /xs_esp32\.bin does not exist, though flasher_args\.json names it/);
	});
});
