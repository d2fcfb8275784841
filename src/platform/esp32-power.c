// How an ESP32 saves power, by ESP-IDF, for src/platform/esp32-power.ts.

#include "xsmc.h"
#include "xsHost.h"
#include "mc.xs.h"

#include "esp_sleep.h"
#include "esp_wifi.h"
#include "soc/soc_caps.h"

// Chips that watch pins while the rest of them is off do so by one of three units, of which each chip has one or two.
#if CONFIG_IDF_TARGET_ESP32
	// Its unit for several pins (EXT1) waits until all of them are low: so it is woken by one pin.
	#define WAKE_BY_EXT0 1
#elif SOC_PM_SUPPORT_EXT1_WAKEUP
	#define WAKE_BY_EXT1 1
#elif SOC_GPIO_SUPPORT_HP_PERIPH_PD_SLEEP_WAKEUP
	#define WAKE_BY_GPIO 1
#endif

void xs_esp32power_saveWiFi(xsMachine *the)
{
	if (ESP_OK != esp_wifi_set_ps((wifi_ps_type_t)xsmcToInteger(xsArg(0))))
		xsUnknownError("not taken by the Wi-Fi");
}

// Pin, whether it is high to wake the chip.
void xs_esp32power_canWake(xsMachine *the)
{
	int pin = xsmcToInteger(xsArg(0));

#if WAKE_BY_EXT0 || WAKE_BY_EXT1 || WAKE_BY_GPIO
	xsmcSetBoolean(xsResult, esp_sleep_is_valid_wakeup_gpio((gpio_num_t)pin));
#else
	(void)pin;
	xsmcSetBoolean(xsResult, 0);
#endif
}

// Pin, whether it is high to wake the chip. EXT0 takes the last one that it is told; the pins of EXT1 must have one level.
void xs_esp32power_wakeBy(xsMachine *the)
{
	int pin = xsmcToInteger(xsArg(0));
	int high = xsmcToBoolean(xsArg(1));
	esp_err_t err = ESP_ERR_NOT_SUPPORTED;

#if WAKE_BY_EXT0
	err = esp_sleep_enable_ext0_wakeup((gpio_num_t)pin, high);
#elif WAKE_BY_EXT1
	err = esp_sleep_enable_ext1_wakeup_io(1ULL << pin, high ? ESP_EXT1_WAKEUP_ANY_HIGH : ESP_EXT1_WAKEUP_ANY_LOW);
#elif WAKE_BY_GPIO
	err = esp_sleep_enable_gpio_wakeup_on_hp_periph_powerdown(1ULL << pin, high ? ESP_GPIO_WAKEUP_GPIO_HIGH : ESP_GPIO_WAKEUP_GPIO_LOW);
#endif
	if (ESP_OK != err)
		xsUnknownError("the pin cannot wake the chip");
}

// Seconds after which it wakes by itself, or 0. The pull-up of a button needs the domain of the RTC's peripherals.
void xs_esp32power_sleep(xsMachine *the)
{
	uint64_t seconds = (uint64_t)xsmcToNumber(xsArg(0));

	if (seconds)
		esp_sleep_enable_timer_wakeup(seconds * 1000000ULL);
#if SOC_PM_SUPPORT_RTC_PERIPH_PD
	esp_sleep_pd_config(ESP_PD_DOMAIN_RTC_PERIPH, ESP_PD_OPTION_ON);
#endif
	esp_wifi_stop();
	esp_deep_sleep_start();
}
