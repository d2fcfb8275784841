// ESP-IDF's data about the chip, for src/hardware/drivers/esp32-chip.ts.

#include "xsmc.h"
#include "mc.xs.h"

#include "esp_chip_info.h"
#include "esp_heap_caps.h"
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
	if (ESP_OK != esp_flash_get_size(NULL, &flashSize))
		flashSize = 0;
	xsmcVars(1);
	xsmcSetNewObject(xsResult);
	NUMBER(model, info.model);
	NUMBER(cores, info.cores);
	NUMBER(revision, info.revision);
	NUMBER(features, info.features);
	NUMBER(flashSize, flashSize);
	NUMBER(psramSize, heap_caps_get_total_size(MALLOC_CAP_SPIRAM));
	NUMBER(minimumFreeHeap, esp_get_minimum_free_heap_size());
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

	if ((NULL != sensor) && (ESP_OK == temperature_sensor_get_celsius(sensor, &celsius))) {
		xsmcSetNumber(xsResult, celsius);
		return;
	}
#endif
	xsmcSetUndefined(xsResult);
}
