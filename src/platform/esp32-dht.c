// The line of a DHT11 or DHT22, for src/platform/esp32-dht.ts. The chip's RMT records its pulses. No function waits.

#include "xsPlatform.h"
#include "xsmc.h"

#include "driver/gpio.h"
#include "driver/rmt_rx.h"
#include "soc/soc_caps.h"

#define MICROSECOND 1000000
#define BITS 40
// A high pulse of 26 to 28 us is a zero, one of 70 us a one.
#define ONE_US 48
#define GLITCH_NS 1000
#define IDLE_NS 200000

typedef struct {
	rmt_channel_handle_t channel;
	gpio_num_t pin;
	volatile size_t count;	// of symbols; 0 until the sensor has ended
	rmt_symbol_word_t symbols[SOC_RMT_MEM_WORDS_PER_CHANNEL];
} LineRecord, *Line;

// In the task of the interrupt.
static bool onEnd(rmt_channel_handle_t channel, const rmt_rx_done_event_data_t *event, void *line)
{
	((Line)line)->count = event->num_symbols;
	return false;
}

void xs_dht_destructor(void *data)
{
	Line line = data;

	if (NULL == line)
		return;
	if (NULL != line->channel) {
		rmt_disable(line->channel);
		rmt_del_channel(line->channel);
	}
	gpio_reset_pin(line->pin);
	c_free(line);
}

void xs_dht_open(xsMachine *the)
{
	rmt_rx_event_callbacks_t callbacks = { .on_recv_done = onEnd };
	rmt_rx_channel_config_t config = {
		.gpio_num = xsmcToInteger(xsArg(0)),
		.clk_src = RMT_CLK_SRC_DEFAULT,
		.resolution_hz = MICROSECOND,
		.mem_block_symbols = SOC_RMT_MEM_WORDS_PER_CHANNEL
	};
	Line line = c_calloc(1, sizeof(LineRecord));

	if (NULL == line)
		xsUnknownError("no memory");
	line->pin = config.gpio_num;
	if (ESP_OK != rmt_new_rx_channel(&config, &line->channel)) {
		c_free(line);
		xsUnknownError("the chip has no free RMT channel for this pin");
	}
	if ((ESP_OK != rmt_rx_register_event_callbacks(line->channel, &callbacks, line)) || (ESP_OK != rmt_enable(line->channel))) {
		rmt_del_channel(line->channel);
		c_free(line);
		xsUnknownError("the chip's RMT channel cannot be used");
	}
	gpio_set_level(line->pin, 1);
	gpio_set_direction(line->pin, GPIO_MODE_INPUT_OUTPUT_OD);
	gpio_set_pull_mode(line->pin, GPIO_PULLUP_ONLY);
	xsmcSetHostData(xsThis, line);
}

void xs_dht_close(xsMachine *the)
{
	Line line = xsmcGetHostData(xsThis);

	xsmcSetHostData(xsThis, NULL);
	xs_dht_destructor(line);
}

// Pulls the line low, which wakes the sensor. A recording without an answer ends here.
void xs_dht_wake(xsMachine *the)
{
	Line line = xsmcGetHostData(xsThis);

	rmt_disable(line->channel);
	if (ESP_OK != rmt_enable(line->channel))
		xsUnknownError("the chip's RMT channel cannot be used");
	gpio_set_level(line->pin, 0);
}

// Releases the line, and records the answer, which takes about 5 ms.
void xs_dht_listen(xsMachine *the)
{
	Line line = xsmcGetHostData(xsThis);
	rmt_receive_config_t config = { .signal_range_min_ns = GLITCH_NS, .signal_range_max_ns = IDLE_NS };

	line->count = 0;
	gpio_set_level(line->pin, 1);
	if (ESP_OK != rmt_receive(line->channel, line->symbols, sizeof(line->symbols), &config))
		xsUnknownError("the pulses cannot be recorded");
}

// Returns the bytes; undefined without an answer of 40 bits. The bits are the last high pulses before the line rests.
void xs_dht_read(xsMachine *the)
{
	Line line = xsmcGetHostData(xsThis);
	uint8_t bytes[BITS / 8] = { 0 };
	int bit = BITS;

	for (size_t i = line->count; (i > 0) && (bit > 0); i--) {
		rmt_symbol_word_t symbol = line->symbols[i - 1];
		int high = symbol.level1 ? symbol.duration1 : symbol.level0 ? symbol.duration0 : 0;

		// The end of the recording has the duration 0.
		if (0 == high)
			continue;
		bit -= 1;
		if (high > ONE_US)
			bytes[bit / 8] |= 0x80 >> (bit % 8);
	}
	if (0 == bit)
		xsmcSetArrayBuffer(xsResult, bytes, sizeof(bytes));
}
