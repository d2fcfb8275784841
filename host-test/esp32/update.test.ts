// Updates over the air on emulated chips: flash, bootloader and rollback are ESP-IDF's. Run by npm test -- --esp32.
import assert from "node:assert/strict";
import { it, type TestContext } from "node:test";
import { makeKey, signImage, updateKeyOf } from "xs-mcp/signing";
import { until } from "../support/testing.js";
import { describeChips } from "./chips.js";
import { startInSession } from "./device.js";
import { IDENTITY_TEXT, ofVersion } from "./flash-image.js";
import { buildForQemu, type QemuTools } from "./qemu.js";

/** Seconds for new firmware to reach its backend. */
const TRIAL = "20";
const VERSION = "9.9.8";
const NEWER = "9.9.9";
/** An ESP32-S2, as the header of an image has it: none of the chips here. */
const OTHER_CHIP = 2;

async function updateAndRollBack(t: TestContext, tools: QemuTools): Promise<void> {
	const key = makeKey();
	const image = await buildForQemu(tools, [`updateKey=${updateKeyOf(key)}`]);
	const firmware = ofVersion(image.firmware, VERSION);

	const damaged = Buffer.from(firmware);
	damaged.writeUInt8(damaged.readUInt8(900_000) ^ 1, 900_000);
	const otherChip = Buffer.from(firmware);
	otherChip.writeUInt8(OTHER_CHIP, 12);
	const otherProject = Buffer.from(firmware);
	otherProject.write("xiaozhi\0", IDENTITY_TEXT.project, "latin1");
	const images = new Map([
		["good", firmware],
		["newer", ofVersion(firmware, NEWER)],
		["damaged", damaged],
		["other-chip", otherChip],
		["other-project", otherProject],
		["cut-off", firmware.subarray(0, 700_000)],
		["page", Buffer.from(`<html>${"x".repeat(1_000)}</html>`)],
	]);
	const device = await startInSession(t, { image, images, settings: { updateTrial: TRIAL } });
	const { backend, nextSession, partition } = device;
	const signed = (name: string, version = VERSION) => ({
		version,
		signature: signImage(images.get(name) as Buffer, version, key),
	});

	assert.equal(await partition(), "ota_0");
	for (const [name, problem] of [
		["page", /not a firmware image/],
		["other-chip", new RegExp(`the image is for esp32s2, but this chip is an ${tools.chip}`)],
		["other-project", /the image is firmware of the project "xiaozhi", not of "xs-mcp"/],
		["cut-off", /image damaged or truncated/],
		["damaged", /image damaged or truncated/],
	] as const) {
		assert.match((await device.update(name, signed(name))).error.message, problem);
	}
	const otherKey = { version: VERSION, signature: signImage(firmware, VERSION, makeKey()) };
	assert.match((await device.update("good", otherKey)).error.message, /invalid signature/);

	await device.install("good", signed("good"));
	await nextSession();
	assert.equal(await partition(), "ota_1");

	// That it takes another update shows that it was confirmed. Firmware that reaches no backend is not.
	await device.install("newer", signed("newer", NEWER));
	backend.stop();
	await until(() => device.console().includes("; rolled back to"), "the trial is over");
	backend.restart();
	await nextSession();
	assert.equal(await partition(), "ota_1");
}

describeChips({ topic: "updates" }, (_build, tools) => {
	it("updates itself, rejects invalid images, and rolls back firmware that does not reach its backend", (t) =>
		updateAndRollBack(t, tools));
});
