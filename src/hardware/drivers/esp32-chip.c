// ESP-IDF's functions of the chip, for src/hardware/drivers/esp32-chip.ts.

#include "xsmc.h"
#include "xsHost.h"
#include "mc.xs.h"

#include "app_update/include/esp_ota_ops.h"
#include "esp_chip_info.h"
#include "esp_heap_caps.h"
#include "esp_netif.h"
#include "esp_system.h"
#include "nvs_flash/include/nvs_flash.h"
#include "soc/soc_caps.h"

// mcconfig's include path has ESP-IDF's components folder, but not this component's include folder.
#if SOC_TEMP_SENSOR_SUPPORTED
	#include "esp_driver_tsens/include/driver/temperature_sensor.h"
#endif

// As esp_flash.h declares it, which cannot be included: it needs headers of esp_hal_mspi, and they are not in mcconfig's
// include path either.
typedef struct esp_flash_t esp_flash_t;
esp_err_t esp_flash_get_size(esp_flash_t *chip, uint32_t *size);

/** Sets a member of the result. */
#define NUMBER(name, value) \
	xsmcSetNumber(xsVar(0), value); \
	xsmcSet(xsResult, xsID_##name, xsVar(0))

void xs_esp32chip_numbers(xsMachine *the)
{
	esp_chip_info_t info;
	uint32_t flashSize = 0;

	esp_chip_info(&info);
	// NULL: the flash that the chip was started from.
	esp_flash_get_size(NULL, &flashSize);
	xsmcVars(1);
	xsmcSetNewObject(xsResult);
	NUMBER(model, info.model);
	NUMBER(cores, info.cores);
	NUMBER(revision, info.revision);
	NUMBER(features, info.features);
	NUMBER(flash_size, flashSize);
	NUMBER(psram_size, heap_caps_get_total_size(MALLOC_CAP_SPIRAM));
	NUMBER(minimum_free_heap_size, esp_get_minimum_free_heap_size());
	NUMBER(resetReason, esp_reset_reason());
}

void xs_esp32chip_restart(xsMachine *the)
{
	esp_restart();
}

// Settings are in the partition "nvs". Nothing can be stored between the erasing and the restart.
void xs_esp32chip_factoryReset(xsMachine *the)
{
	nvs_flash_erase();
	esp_restart();
}

#if SOC_TEMP_SENSOR_SUPPORTED
// The sensor is installed at the first reading and never released: nothing else uses it. NULL: not installed.
static temperature_sensor_handle_t openSensor(void)
{
	static temperature_sensor_handle_t sensor;
	temperature_sensor_config_t config = TEMPERATURE_SENSOR_CONFIG_DEFAULT(-10, 80);
	temperature_sensor_handle_t installed;

	if ((NULL == sensor) && (ESP_OK == temperature_sensor_install(&config, &installed))) {
		if (ESP_OK == temperature_sensor_enable(installed))
			sensor = installed;
		else
			temperature_sensor_uninstall(installed);
	}
	return sensor;
}
#endif

// Undefined without a working sensor, because a broken thermometer must not prevent the start.
void xs_esp32chip_temperature(xsMachine *the)
{
#if SOC_TEMP_SENSOR_SUPPORTED
	temperature_sensor_handle_t sensor = openSensor();
	float celsius;

	if ((NULL != sensor) && (ESP_OK == temperature_sensor_get_celsius(sensor, &celsius)))
		xsmcSetNumber(xsResult, celsius);
#endif
}

// The bootloader keeps firmware on trial if CONFIG_BOOTLOADER_APP_ROLLBACK_ENABLE was set when it was built.
void xs_esp32chip_isOnTrial(xsMachine *the)
{
	esp_ota_img_states_t state;

	// Firmware flashed by cable has no state, and is not on trial.
	if (ESP_OK != esp_ota_get_state_partition(esp_ota_get_running_partition(), &state))
		state = ESP_OTA_IMG_UNDEFINED;
	xsmcSetBoolean(xsResult, ESP_OTA_IMG_PENDING_VERIFY == state);
}

void xs_esp32chip_confirm(xsMachine *the)
{
	if (ESP_OK != esp_ota_mark_app_valid_cancel_rollback())
		xsUnknownError("the firmware cannot be confirmed");
}

// Restarts at once, unless there is no previous firmware.
void xs_esp32chip_rollBack(xsMachine *the)
{
	esp_ota_mark_app_invalid_rollback_and_reboot();
	xsUnknownError("there is no firmware to go back to");
}

void xs_esp32chip_label(xsMachine *the)
{
	xsmcSetString(xsResult, (char *)esp_ota_get_running_partition()->label);
}

void xs_esp32chip_setDns(xsMachine *the)
{
	esp_netif_t *station = esp_netif_get_handle_from_ifkey("WIFI_STA_DEF");
	esp_netif_dns_info_t dns = {0};

	dns.ip.type = ESP_IPADDR_TYPE_V4;
	if ((NULL != station) && (ESP_OK == esp_netif_str_to_ip4(xsmcToString(xsArg(0)), &dns.ip.u_addr.ip4)))
		esp_netif_set_dns_info(station, ESP_NETIF_DNS_MAIN, &dns);
}
