// ESP-IDF's state of firmware on trial, for src/hardware/drivers/esp32-bootloader.ts. Its bootloader keeps the states, if
// CONFIG_BOOTLOADER_APP_ROLLBACK_ENABLE was set when it was built.

#include "xsmc.h"
#include "xsHost.h"
#include "mc.xs.h"

#include "app_update/include/esp_ota_ops.h"

void xs_esp32bootloader_isOnTrial(xsMachine *the)
{
	esp_ota_img_states_t state;

	// Firmware flashed by cable has no state, and is not on trial.
	if (ESP_OK != esp_ota_get_state_partition(esp_ota_get_running_partition(), &state))
		state = ESP_OTA_IMG_UNDEFINED;
	xsmcSetBoolean(xsResult, ESP_OTA_IMG_PENDING_VERIFY == state);
}

void xs_esp32bootloader_confirm(xsMachine *the)
{
	if (ESP_OK != esp_ota_mark_app_valid_cancel_rollback())
		xsUnknownError("the firmware cannot be confirmed");
}

// Restarts at once, unless there is no previous firmware.
void xs_esp32bootloader_rollBack(xsMachine *the)
{
	esp_ota_mark_app_invalid_rollback_and_reboot();
	xsUnknownError("there is no firmware to go back to");
}

void xs_esp32bootloader_label(xsMachine *the)
{
	xsmcSetString(xsResult, (char *)esp_ota_get_running_partition()->label);
}
