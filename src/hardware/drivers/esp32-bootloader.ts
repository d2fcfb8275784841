import { deepFreeze } from "../../core/text/deep-freeze.js";

/** ESP-IDF's bootloader, which keeps firmware on trial: `esp32-bootloader.c`, built for an ESP32 only. */
export const esp32Bootloader = deepFreeze({
	/** Whether the running firmware was installed by an update and is not confirmed. */
	get isOnTrial(): boolean {
		return native("xs_esp32bootloader_isOnTrial").call(this) as boolean;
	},

	/** The partition that the running firmware is in: "ota_0", "ota_1". */
	get label(): string {
		return native("xs_esp32bootloader_label").call(this) as string;
	},

	/** Confirms the running firmware. */
	confirm(): void {
		native("xs_esp32bootloader_confirm").call(this);
	},

	/** Restarts into the previous firmware. @throws Error without a previous firmware */
	rollBack(): void {
		native("xs_esp32bootloader_rollBack").call(this);
	},
});
