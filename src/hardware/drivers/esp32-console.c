// The UART of ESP-IDF's log, for src/hardware/drivers/open-devkit.ts.

#include "xsmc.h"
#include "driver/uart.h"
#include "hal/uart_ll.h"

// The chip's ROM leaves interrupts of the UART on. The SDK's serial port installs its handler before it is ready to handle
// one: if a byte has arrived by then, the handler is called again and again, until a watchdog restarts the chip.
void xs_esp32console_disableInterrupts(xsMachine *the)
{
	if (!uart_is_driver_installed(UART_NUM_0)) {
		uart_ll_disable_intr_mask(&UART0, UART_LL_INTR_MASK);
		uart_ll_clr_intsts_mask(&UART0, UART_LL_INTR_MASK);
	}
}
