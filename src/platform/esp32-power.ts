import { deepFreeze } from "../core/text/deep-freeze.js";
import type { ChipPower } from "../hardware/hardware.js";

/** ESP-IDF's numbers for them (wifi_ps_type_t). */
const MODES = Object.freeze({ off: 0, min: 1, max: 2 });

/** How an ESP32 saves power: `esp32-power.c`, built for an ESP32 only. */
const esp32Power: ChipPower = deepFreeze({
	saveWiFi(mode): void {
		native("xs_esp32power_saveWiFi").call(this, MODES[mode]);
	},

	canWake({ pin, high }): boolean {
		return native("xs_esp32power_canWake").call(this, pin, high) as boolean;
	},

	sleep(pins, seconds): void {
		// The chip ESP32 is woken by one pin, the last one: that of the main button, which is the first.
		for (const { pin, high } of [...pins].reverse()) {
			native("xs_esp32power_wakeBy").call(this, pin, high);
		}
		native("xs_esp32power_sleep").call(this, seconds);
	},
} satisfies ChipPower);
export default esp32Power;
