// The chip's USB Serial/JTAG controller, for src/hardware/drivers/esp32-usb.ts. No function waits.

#include "xsmc.h"

#include "soc/soc_caps.h"

#if SOC_USB_SERIAL_JTAG_SUPPORTED
// mcconfig's include path has ESP-IDF's components folder, but not this component's include folder.
#include "esp_driver_usb_serial_jtag/include/driver/usb_serial_jtag.h"

// More than the longest packet of Improv. ESP-IDF wants more than 64.
#define BUFFER_BYTES 512

// In debug builds the SDK's debugger has it.
void xs_esp32usb_open(xsMachine *the)
{
	usb_serial_jtag_driver_config_t config = { .tx_buffer_size = BUFFER_BYTES, .rx_buffer_size = BUFFER_BYTES };

	if (usb_serial_jtag_is_driver_installed())
		xsUnknownError("in use");
	if (ESP_OK != usb_serial_jtag_driver_install(&config))
		xsUnknownError("the USB driver cannot be installed");
}

void xs_esp32usb_close(xsMachine *the)
{
	usb_serial_jtag_driver_uninstall();
}

// Returns what has arrived; undefined if nothing has.
void xs_esp32usb_read(xsMachine *the)
{
	uint8_t bytes[BUFFER_BYTES];
	int count = usb_serial_jtag_read_bytes(bytes, sizeof(bytes), 0);

	if (count > 0)
		xsmcSetArrayBuffer(xsResult, bytes, count);
}

// Returns how many of the bytes are sent.
void xs_esp32usb_write(xsMachine *the)
{
	void *bytes;
	xsUnsignedValue count;

	xsmcGetBufferReadable(xsArg(0), &bytes, &count);
	xsmcSetInteger(xsResult, usb_serial_jtag_write_bytes(bytes, count, 0));
}
#else
// Nothing calls these.
void xs_esp32usb_open(xsMachine *the) {}
void xs_esp32usb_close(xsMachine *the) {}
void xs_esp32usb_read(xsMachine *the) {}
void xs_esp32usb_write(xsMachine *the) {}
#endif
