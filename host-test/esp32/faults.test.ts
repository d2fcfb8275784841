// Faults that restart emulated chips, and the rollback of firmware that fails before it can watch itself. Run by npm test -- --esp32.
import assert from "node:assert/strict";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { until } from "../support/testing.js";
import { describeChips } from "./chips.js";
import { startInSession } from "./device.js";
import { ofVersion } from "./flash-image.js";

const FIRMWARE = fileURLToPath(new URL("../fixtures/manifest_faulty.json", import.meta.url));

/** The chip's output after each failure of a tool. */
const FAULTS = {
	loop: /Task watchdog got triggered/,
	panic: /Guru Meditation Error: .* panic'ed \((Store access fault|StoreProhibited)\)/,
} as const;

/** The lines above and below the registers and the stack that a panic prints. */
const TELLING = /watchdog|Guru|panic|abort|thrown|rst:|rollback|ota_/i;

/** Seconds for new firmware to reach its backend: much more than the watchdog's 30. */
const settings = { updateTrial: "900" };

describeChips({ topic: "faults", firmware: FIRMWARE }, (build) => {
	it("restarts when a tool never returns or panics", async (t) => {
		const device = await startInSession(t, { image: await build(), settings });
		for (const [fault, printed] of Object.entries(FAULTS)) {
			const before = device.console().length;
			device.fail("self.test.fail", { fault });
			await device.nextSession();
			const text = device.console().slice(before);
			assert.match(text, printed);
			t.diagnostic([fault, ...text.split(/\r?\n/).filter((line) => TELLING.test(line))].join("\n"));
		}
	});

	it("continues its session when a timer throws, and reports the error", async (t) => {
		const device = await startInSession(t, { image: await build(), settings });
		await device.call("self.test.fail", { fault: "throw" });
		await until(() => /since the start: Error: thrown on purpose/.test(device.console()), "the error is in the log");
		assert.match(JSON.stringify(await device.info()), /thrown on purpose/);
	});

	it("is reported with its registers and its console when it says nothing", async (t) => {
		const device = await startInSession(t, { image: await build(), settings });
		await device.setNetwork(false);
		device.backend.limitSilence(1_000, device.state);
		await assert.rejects(device.info(), /no message for 1000 ms.*\bpc[ =]+[0-9a-f]{8}.*\bstate \w+ -> \w+/is);
	});

	it("goes back from an update that never gets through its start", async (t) => {
		const image = await build();
		const images = new Map([["next", ofVersion(image.firmware, "9.9.9")]]);
		const device = await startInSession(t, { image, settings, images });
		for (const fault of ["loop", "panic"] as const) {
			await device.call("self.test.plant", { fault });
			const before = device.console().length;
			await device.install("next");
			await device.nextSession();
			const text = device.console().slice(before);
			assert.match(text, FAULTS[fault]);
			assert.equal(await device.partition(), "ota_0", fault);
			t.diagnostic([fault, ...text.split(/\r?\n/).filter((line) => TELLING.test(line))].join("\n"));
		}
	});
});
