import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, it } from "node:test";
import { analog, type Part, pwm, relay, siren } from "xs-mcp-firmware/hardware/parts/index";
import { cases } from "../../../host-test/support/scope.js";
import { noSdk, sdk } from "../../../host-test/support/sdk.js";
import { temporaryFolder } from "../../../host-test/support/testing.js";
import { checkDevice, checkTarget, chipOfBoard } from "../src/build/check-board.js";
import { flashProgram } from "../src/moddable/flash.js";
import { linkForChip } from "../src/moddable/mcconfig.js";
import { ROOT } from "../src/root.js";
import { makeSdk } from "./made-up-sdk.js";

const { env } = makeSdk("", ["esp32s3", "xiao_esp32c3"]);

/** Links the device of a folder for a target. */
async function link(folder: string, target: string): Promise<void> {
	await flashProgram(folder, env).parseAsync(["--link-only", "--target", target], { from: "user" });
}

/** The folder of a device with a relay at this pin. */
function writeRelay(pin: number): string {
	return writeDevice(
		`import { device, relay } from "xs-mcp";\nexport default device({ parts: { pump: relay({ pin: ${pin} }) } });\n`,
	);
}

/** The folder of a device with this module. */
function writeDevice(text: string): string {
	const folder = temporaryFolder();
	const include = [relative(folder, join(ROOT, "src/hardware/parts/manifest.json"))];
	writeFileSync(
		`${folder}/manifest.json`,
		JSON.stringify({ build: { NAME: "x" }, include, modules: { device: "./device" } }),
	);
	writeFileSync(`${folder}/device.ts`, text);
	return folder;
}

describe("a build of a device of one's own", () => {
	it("fails before it begins if the target's chip cannot use a pin, and names the part, the pin, and those that would do", async () => {
		const folder = writeRelay(26);
		await link(folder, "esp32");
		await assert.rejects(link(folder, "esp32/esp32s3"), {
			name: "ProgramError",
			message: /device\.ts: part pump: pin 26 is connected to the flash of the ESP32-S3; these would do: 1, 2, 4, 5, /,
		});
		await assert.rejects(link(folder, "esp32/xiao_esp32c3"), /pin 26 does not exist on the ESP32-C3/);
	});

	it("fails if a part cannot be used, also without device()", async () => {
		const folder = writeDevice(
			'import { relay } from "xs-mcp";\nexport default { parts: { pump: relay({ pin: 26, maxOn: -1 }) } };\n',
		);
		await assert.rejects(link(folder, "esp32"), {
			name: "ProgramError",
			message: /device\.ts: part pump: maxOn: /,
		});
		await assert.rejects(link(writeDevice("export default 5;\n"), "esp32"), /expected "export default device/);
	});

	it("refuses the pins of the board itself, with the name of their use, and takes its I2C bus", async () => {
		const device = (board: string, part: Part) => ({ board: `esp32/${board}`, parts: { lamp: part } });
		for (const [board, pin, use] of [
			["m5stack_cores3", 3, "screen"],
			["m5stack_cores3", 4, "SD card"],
			["m5stack_cores3", 12, "I2C bus"],
			["m5stack_cores3", 35, "screen"],
			["m5stack_cores3", 37, "screen"],
			["m5stack_core2", 4, "SD card"],
			["m5stack_core2", 5, "screen"],
			["m5stack_core2", 21, "I2C bus"],
			["m5stack_core2", 23, "screen"],
			["lilygo_tdisplay_s3", 15, "screen"],
			["xiao_esp32s3_sense", 10, "camera"],
		] as const) {
			assert.throws(
				() => checkDevice(device(board, relay({ pin }))),
				new RegExp(
					`^DeviceError: part lamp: pin ${pin} is in use by the ${use} of the ${board}; these would do: \\d+, `,
				),
			);
		}
		const onBus = { ...relay({ pin: 0 }), pins: [12, 11].map((pin) => ({ pin, use: "bus" as const })) };
		assert.deepEqual(checkDevice(device("m5stack_cores3", onBus)), []);
		// Another board with that chip has nothing there.
		assert.deepEqual(checkDevice(device("xiao_esp32s3", relay({ pin: 4 }))), []);
	});

	it("warns about a pin of the board's own part that the firmware does not use", () => {
		for (const [board, part, pin, use] of [
			["m5stick_cplus", siren({ pin: 2 }), 2, "buzzer"],
			["m5stick_cplus", pwm({ pin: 9 }), 9, "infrared LED"],
			["m5stick_cplus", relay({ pin: 0 }), 0, "microphone"],
			["lilygo_tdisplay_s3", analog({ pin: 4 }), 4, "battery's voltage"],
			["lilygo_tdisplay_s3", relay({ pin: 16 }), 16, "touch screen"],
			["m5stack", siren({ pin: 25 }), 25, "speaker"],
			["m5atom_s3", pwm({ pin: 4 }), 4, "infrared LED"],
			["moddable_six", relay({ pin: 2 }), 2, "microphone"],
			["xiao_esp32s3_sense", relay({ pin: 41 }), 41, "microphone"],
		] as const) {
			const device = { board: `esp32/${board}`, parts: { own: part as Part } };
			assert.deepEqual(checkDevice(device), [
				`part own: pin ${pin} is connected to the ${use} of the ${board}, which the firmware does not use`,
			]);
		}
		const taken = { board: "esp32/m5stick_cplus", parts: { own: relay({ pin: 10 }) } };
		assert.throws(
			() => checkDevice(taken),
			/pin 10 is in use by the LED of the m5stick_cplus; these would do: 4, 14, 19, 25, 26, 27, 32, 33$/,
		);
	});

	it("knows the SDK's targets and their chips", { skip: noSdk }, () => {
		const folder = join(sdk.root, "build/devices/esp32/targets");
		for (const target of readdirSync(folder)) {
			const { build } = JSON.parse(readFileSync(join(folder, target, "manifest.json"), "utf8"));
			const chip = build?.ESP32_SUBCLASS ?? "esp32";
			assert.equal(chipOfBoard(`esp32/${target}`), chip, target);
			if (chip !== "esp32h2") {
				checkTarget(`esp32/${target}`);
			}
		}
	});

	it("fails if a driver of the SDK does not work, and names another one", async () => {
		const folder = writeDevice(
			'import HTU21D from "embedded:sensor/Humidity-Temperature/HTU21D";\nimport { sensor } from "xs-mcp";\nexport default { parts: { air: sensor(HTU21D, { bus: "default" }) } };\n',
		);
		await assert.rejects(link(folder, "esp32"), { name: "ProgramError", message: /HTU21D: .*use .*SI7020/ });
	});

	for (const [target, folder] of cases([
		["esp32", "examples/pump"],
		["esp32", "host-test/fixtures/heater"],
		["esp32", "host-test/fixtures/air"],
	] as const)) {
		it(`links ${folder} for ${target}`, {
			skip: noSdk,
		}, async () => {
			const linked = await linkForChip(sdk, ROOT + folder, target);
			assert.match(readFileSync(linked, "utf8"), /"src\/hardware\/parts\/relay"/);
		});
	}
});
