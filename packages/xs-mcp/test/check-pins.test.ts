import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Chip } from "xs-mcp-firmware/hardware/board-data";
import { analog } from "xs-mcp-firmware/hardware/parts/analog";
import { contact } from "xs-mcp-firmware/hardware/parts/contact";
import { sensor } from "xs-mcp-firmware/hardware/parts/driver-sensor";
import type { Part } from "xs-mcp-firmware/hardware/parts/part";
import { relay } from "xs-mcp-firmware/hardware/parts/relay";
import { type BoardName, checkDevice } from "../src/build/check-board.js";

/** Returns the errors of parts on a board. */
function errors(parts: Readonly<Record<string, Part>>, board: BoardName = "esp32"): string[] {
	try {
		checkDevice({ board, parts });
		return [];
	} catch (error) {
		return (error as Error).message.split("\n");
	}
}

describe("pins of parts, checked against the chip", () => {
	it("pass if the chip can do it", () => {
		const parts = {
			pump: relay({ pin: 26 }),
			soil: analog({ pin: 34 }),
			door: contact({ pin: 4, pull: "up" }),
		};
		assert.deepEqual(checkDevice({ parts }), []);
	});

	it("are an error on an input, with the pins that would do", () => {
		assert.deepEqual(errors({ pump: relay({ pin: 34 }) }), [
			"part pump: pin 34 of the ESP32 is only an input; these would do: 4, 13, 14, 18, 19, 21, 22, 23, 25, 26, 27, 32, 33",
		]);
	});

	it("are an error on the flash, or if the chip does not have them", () => {
		assert.deepEqual(
			errors({ pump: relay({ pin: 6 }) })[0]?.slice(0, 58),
			"part pump: pin 6 is connected to the flash of the ESP32; t",
		);
		assert.deepEqual(
			errors({ pump: relay({ pin: 24 }) })[0]?.slice(0, 47),
			"part pump: pin 24 does not exist on the ESP32; ",
		);
		assert.deepEqual(errors({ pump: relay({ pin: 26 }) }, "esp32s3").length, 1);
		assert.deepEqual(errors({ pump: relay({ pin: 22 }) }, "esp32c3").length, 1);
	});

	it("are an error where a resistor is missing", () => {
		assert.deepEqual(
			errors({ door: contact({ pin: 35, pull: "up" }) })[0]?.slice(0, 67),
			'part door: pin 35 of the ESP32 has no resistor for pull: "up"; thes',
		);
		assert.deepEqual(errors({ door: contact({ pin: 35 }) }), []);
	});

	it("are an error where the second converter or none is, because the Wi-Fi is on", () => {
		assert.deepEqual(errors({ soil: analog({ pin: 25 }) }), [
			"part soil: pin 25 of the ESP32 cannot measure while the Wi-Fi is on; these would do: 32, 33, 34, 35, 36, 37, 38, 39",
		]);
		assert.deepEqual(errors({ soil: analog({ pin: 21 }) }, "esp32c6"), [
			"part soil: pin 21 of the ESP32-C6 cannot measure a voltage; these would do: 0, 1, 2, 3, 6",
		]);
		assert.deepEqual(errors({ soil: analog({ pin: 12 }) }, "esp32s2").length, 1);
	});

	it("are an error if two parts have one", () => {
		assert.deepEqual(
			errors({ pump: relay({ pin: 26 }), fan: relay({ pin: 26 }) })[0]?.slice(0, 41),
			"part fan: pin 26 is in use by pump; these",
		);
	});

	it("may be shared by sensors on one bus, and by nothing else", () => {
		class Driver {
			sample(): undefined {
				return undefined;
			}
		}
		const bus = { data: 21, clock: 22 };
		const parts = { air: sensor(Driver, { bus, address: 0x44 }), hall: sensor(Driver, { bus, address: 0x45 }) };
		assert.deepEqual(errors(parts), []);
		assert.deepEqual(
			errors({ ...parts, pump: relay({ pin: 22 }) })[0]?.slice(0, 40),
			"part pump: pin 22 is in use by hall; the",
		);
		assert.deepEqual(
			errors({ air: sensor(Driver, { bus: { data: 34, clock: 22 } }) })[0]?.slice(0, 48),
			"part air: pin 34 of the ESP32 is only an input; ",
		);
	});

	it("are a warning where the chip looks at its start, and where modules differ", () => {
		const parts = { pump: relay({ pin: 12 }), fan: relay({ pin: 16 }), light: relay({ pin: 1 }) };
		const warnings = checkDevice({ parts });
		assert.deepEqual(warnings.length, 3);
		assert.deepEqual(
			warnings[0],
			"part pump: pin 12 decides how the ESP32 starts: what is connected must leave it alone then",
		);
	});

	it("are checked for double use on a chip that is not known", () => {
		assert.deepEqual(errors({ pump: relay({ pin: 50 }), fan: relay({ pin: 50 }) }, { chip: "esp99" as Chip }), [
			"part fan: pin 50 is in use by pump",
		]);
	});
});
