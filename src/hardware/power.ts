/** A pin that can end the chip's deep sleep. */
export interface WakePin {
	readonly pin: number;
	/** The level that wakes the chip: whether it is the high one. */
	readonly high: boolean;
}

/** How the Wi-Fi saves power between messages, from nothing to the most. */
type WiFiPowerSave = "off" | "min" | "max";

/** How a chip saves power. */
export interface ChipPower {
	/** @throws Error if the Wi-Fi does not take it */
	saveWiFi(mode: WiFiPowerSave): void;
	/** Whether the chip can be woken by this pin. */
	canWake(pin: WakePin): boolean;
	/**
	 * Sleeps until one of the pins or the time wakes the chip, which then restarts. Does not return.
	 *
	 * @param pins each must pass `canWake`
	 * @param seconds after which it wakes by itself; 0: only a pin wakes it
	 */
	sleep(pins: readonly WakePin[], seconds: number): void;
}
