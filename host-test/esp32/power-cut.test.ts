// Power cuts during an update of emulated chips: there is always one good image. Run by npm test -- --esp32.
import assert from "node:assert/strict";
import { it } from "node:test";
import { makeRandom } from "../node/hostile-messages.js";
import { describeChips } from "./chips.js";
import { startInSession } from "./device.js";
import { ofVersion } from "./flash-image.js";
import { POWER_CUTS } from "./lengths.js";

const SEED = 20_261_122;
/** The device reports about so many steps of a download, the last when it has installed the image. */
const STEPS = 20;

/** In the middle of the firmware in the second partition for firmware. */
const SECOND_FIRMWARE = 0x20_0000 + 500_000;

describeChips({ topic: "power cuts" }, (build) => {
	it(`starts after each of ${POWER_CUTS} power cuts during an update`, async (t) => {
		const image = await build();
		const images = new Map(["9.9.8", "9.9.9"].map((version) => [version, ofVersion(image.firmware, version)]));
		const device = await startInSession(t, { image, images });
		const random = makeRandom(SEED);
		for (let cut = 1; cut <= POWER_CUTS; cut += 1) {
			// More than it reports: as soon as the image is installed, in the restart.
			const steps = Math.floor(random() * STEPS * 1.5);
			const other = (await device.info()).application.version === "9.9.8" ? "9.9.9" : "9.9.8";
			device.fail("self.upgrade_firmware", { url: device.urlOf(other) });
			for (let step = 0; step < steps; ) {
				const { type, payload } = JSON.parse(await device.backend.hear());
				assert.equal(payload?.error, undefined, JSON.stringify(payload));
				if (payload?.method === "notifications/progress") {
					step += 1;
				} else if (type === "hello" || payload?.result !== undefined) {
					break;
				}
			}
			await device.cutPower();
			await device.nextSession();
			const label = await device.partition();
			assert.match(label, /^ota_[01]$/);
			t.diagnostic(`cut ${cut}, after ${steps} steps: ${label}`);
		}
	});

	it("starts its other firmware if the one that it ran is damaged in flash", async (t) => {
		const image = await build();
		const device = await startInSession(t, { image, images: new Map([["next", ofVersion(image.firmware, "9.9.9")]]) });
		await device.install("next");
		await device.nextSession();
		assert.equal(await device.partition(), "ota_1");
		await device.cutPower((flash) => flash.writeUInt8(flash.readUInt8(SECOND_FIRMWARE) ^ 1, SECOND_FIRMWARE));
		await device.nextSession();
		assert.equal(await device.partition(), "ota_0");
	});
});
