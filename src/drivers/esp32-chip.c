// What ESP-IDF knows of the chip, for src/drivers/esp32-chip.ts. Each function answers with one number.

#include "xsmc.h"

#include "esp_chip_info.h"
#include "esp_flash.h"
#include "esp_heap_caps.h"
#include "esp_system.h"
#include "soc/soc_caps.h"

#if SOC_TEMP_SENSOR_SUPPORTED
	#include "driver/temperature_sensor.h"
#endif

static esp_chip_info_t chipInfo(void)
{
	esp_chip_info_t info;
	esp_chip_info(&info);
	return info;
}

void xs_esp32chip_model(xsMachine *the)
{
	xsmcSetInteger(xsResult, chipInfo().model);
}

void xs_esp32chip_cores(xsMachine *the)
{
	xsmcSetInteger(xsResult, chipInfo().cores);
}

void xs_esp32chip_revision(xsMachine *the)
{
	xsmcSetInteger(xsResult, chipInfo().revision);
}

void xs_esp32chip_features(xsMachine *the)
{
	xsmcSetInteger(xsResult, (xsIntegerValue)chipInfo().features);
}

void xs_esp32chip_flashSize(xsMachine *the)
{
	uint32_t size = 0;
	// NULL: the flash that the chip was started from.
	if (ESP_OK != esp_flash_get_size(NULL, &size))
		size = 0;
	xsmcSetNumber(xsResult, size);
}

void xs_esp32chip_psramSize(xsMachine *the)
{
	xsmcSetNumber(xsResult, heap_caps_get_total_size(MALLOC_CAP_SPIRAM));
}

void xs_esp32chip_minimumFreeHeap(xsMachine *the)
{
	xsmcSetNumber(xsResult, esp_get_minimum_free_heap_size());
}

void xs_esp32chip_temperature(xsMachine *the)
{
#if SOC_TEMP_SENSOR_SUPPORTED
	// The sensor is installed at the first reading and stays so: it is the chip's own, nobody else's.
	static temperature_sensor_handle_t sensor;
	float celsius;

	if (NULL == sensor) {
		temperature_sensor_config_t config = TEMPERATURE_SENSOR_CONFIG_DEFAULT(-10, 80);
		temperature_sensor_handle_t installed;
		if (ESP_OK != temperature_sensor_install(&config, &installed))
			xsUnknownError("no temperature sensor");
		if (ESP_OK != temperature_sensor_enable(installed)) {
			temperature_sensor_uninstall(installed);
			xsUnknownError("temperature sensor not enabled");
		}
		sensor = installed;
	}
	if (ESP_OK != temperature_sensor_get_celsius(sensor, &celsius))
		xsUnknownError("temperature not read");
	xsmcSetNumber(xsResult, celsius);
#else
	xsmcSetUndefined(xsResult);
#endif
}
