// Decodes Opus in a thread of its own, for opus-decoder.ts. The machine's task copies packets in and samples out, and waits
// for the thread only when it closes it: at most as long as a packet takes.
#include <pthread.h>
#include <stdbool.h>
#include "xsmc.h"
#include "mc.xs.h"
#include "xsHost.h"
#if ESP32
	#include <opus.h>
	#include "esp_heap_caps.h"
	// Its working memory of 120 KB is in PSRAM. Without, libopus writes to an address that is not there.
	#define isReady() (heap_caps_get_largest_free_block(MALLOC_CAP_SPIRAM) >= 160 * 1024)
#else
	#include <dlfcn.h>
	#include <opus/opus.h>
	// The SDK's makefile for the simulator links one library, and that is ALSA's.
	static void *libopus;
	#define isReady() (libopus || (libopus = dlopen("libopus.so.0", RTLD_LAZY)))
	#define LINKED(name) ((__typeof__(&name))dlsym(libopus, #name))
	#define opus_decode(...) LINKED(opus_decode)(__VA_ARGS__)
	#define opus_decoder_create(...) LINKED(opus_decoder_create)(__VA_ARGS__)
	#define opus_decoder_destroy(...) LINKED(opus_decoder_destroy)(__VA_ARGS__)
#endif

#define MAX_PACKETS 40			// that wait: 2.4 s of 60 ms each, as on the C++ firmware
#define MAX_BYTES (32 * 1024)	// of all of them
#define MAX_MILLISECONDS 120	// of one: RFC 6716, section 2
#define STACK_BYTES (8 * 1024)	// on a chip, where libopus has its working memory elsewhere

typedef struct Packet {
	struct Packet *next;
	xsUnsignedValue size;		// 0: it was lost
	uint8_t data[];
} Packet;

typedef struct {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	OpusDecoder *opus;
	Packet *first, **end;
	xsUnsignedValue bytes;
	int waiting, prebuffer, frame, most, bad;
	bool isPlaying, isBusy, isComplete, isClosed;
	int samples;				// in pcm. The thread leaves that alone until they are read
	opus_int16 pcm[];
} Decoder;

/** The next packet once enough wait; NULL if the thread has to wait. */
static Packet *take(Decoder *it)
{
	Packet *packet = it->first;

	if (NULL == packet)
		it->isPlaying = false;
	else if (it->isComplete || (it->waiting >= it->prebuffer))
		it->isPlaying = true;
	if (!it->isPlaying || it->samples)
		return NULL;
	it->first = packet->next;
	if (NULL == it->first)
		it->end = &it->first;
	it->waiting -= 1;
	it->bytes -= packet->size;
	return packet;
}

static void *decode(void *refcon)
{
	Decoder *it = refcon;

	pthread_mutex_lock(&it->lock);
	while (!it->isClosed) {
		Packet *packet = take(it);
		int samples = 0, bad = 0;

		if (NULL == packet) {
			pthread_cond_wait(&it->changed, &it->lock);
			continue;
		}
		it->isBusy = true;
		pthread_mutex_unlock(&it->lock);
		if (packet->size) {
			samples = opus_decode(it->opus, packet->data, packet->size, it->pcm, it->most, 0);
			bad = samples < 0;
		}
		if (samples <= 0)		// concealed
			samples = opus_decode(it->opus, NULL, 0, it->pcm, it->frame, 0);
		c_free(packet);
		pthread_mutex_lock(&it->lock);
		it->isBusy = false;
		it->bad += bad;
		it->samples = samples > 0 ? samples : 0;
	}
	pthread_mutex_unlock(&it->lock);
	return NULL;
}

void xs_opus_destructor(void *data)
{
	Decoder *it = data;

	if (NULL == it)
		return;
	pthread_mutex_lock(&it->lock);
	it->isClosed = true;
	pthread_cond_signal(&it->changed);
	pthread_mutex_unlock(&it->lock);
	pthread_join(it->thread, NULL);
	while (it->first) {
		Packet *packet = it->first;
		it->first = packet->next;
		c_free(packet);
	}
	pthread_cond_destroy(&it->changed);
	pthread_mutex_destroy(&it->lock);
	opus_decoder_destroy(it->opus);
	c_free(it);
}

static const xsHostHooks hooks = {xs_opus_destructor, NULL, NULL};

static Decoder *decoderOf(xsMachine *the)
{
	Decoder *it = xsmcGetHostDataValidate(xsThis, (void *)&hooks);

	if (NULL == it)
		xsUnknownError("closed");
	return it;
}

void xs_opus_constructor(xsMachine *the)
{
	int rate = xsmcToInteger(xsArg(0)), frame = xsmcToInteger(xsArg(1)), most, error;
	Decoder *it;
	pthread_attr_t attributes;

	most = rate / 1000 * MAX_MILLISECONDS;
	if ((rate < 8000) || (rate > 48000) || (frame < 1) || (frame > most))
		xsRangeError("invalid format");
	if (!isReady())
		xsUnknownError("libopus or its memory is missing");
	it = c_calloc(1, sizeof(Decoder) + most * sizeof(opus_int16));
	if (NULL == it)
		xsUnknownError("no memory");
	it->end = &it->first;
	it->frame = frame;
	it->most = most;
	it->prebuffer = xsmcToInteger(xsArg(2));
	it->opus = opus_decoder_create(rate, 1, &error);
	if (NULL == it->opus) {
		c_free(it);
		xsUnknownError("no memory");
	}
	pthread_mutex_init(&it->lock, NULL);
	pthread_cond_init(&it->changed, NULL);
	pthread_attr_init(&attributes);
#if ESP32
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
#endif
	error = pthread_create(&it->thread, &attributes, decode, it);
	pthread_attr_destroy(&attributes);
	if (error) {
		opus_decoder_destroy(it->opus);
		c_free(it);
		xsUnknownError("no thread");
	}
	xsmcSetHostData(xsThis, it);
	xsSetHostHooks(xsThis, (xsHostHooks *)&hooks);
}

void xs_opus_write(xsMachine *the)
{
	Decoder *it = decoderOf(the);
	void *data;
	xsUnsignedValue size;
	Packet *packet;

	xsmcGetBufferReadable(xsArg(0), &data, &size);
	pthread_mutex_lock(&it->lock);
	packet = (it->waiting < MAX_PACKETS) && (it->bytes + size <= MAX_BYTES) ? c_malloc(sizeof(Packet) + size) : NULL;
	if (packet) {
		packet->next = NULL;
		packet->size = size;
		c_memcpy(packet->data, data, size);
		*it->end = packet;
		it->end = &packet->next;
		it->waiting += 1;
		it->bytes += size;
		pthread_cond_signal(&it->changed);
	}
	pthread_mutex_unlock(&it->lock);
	xsmcSetBoolean(xsResult, NULL != packet);
}

void xs_opus_complete(xsMachine *the)
{
	Decoder *it = decoderOf(the);

	pthread_mutex_lock(&it->lock);
	it->isComplete = true;
	pthread_cond_signal(&it->changed);
	pthread_mutex_unlock(&it->lock);
}

void xs_opus_read(xsMachine *the)
{
	Decoder *it = decoderOf(the);
	int samples;
	bool isOver;

	pthread_mutex_lock(&it->lock);
	samples = it->samples;
	isOver = it->isComplete && !it->isBusy && (NULL == it->first);
	pthread_mutex_unlock(&it->lock);
	if (0 == samples) {
		if (isOver)
			xsmcSetNull(xsResult);
		return;
	}
	xsmcSetArrayBuffer(xsResult, it->pcm, samples * sizeof(opus_int16));
	pthread_mutex_lock(&it->lock);
	it->samples = 0;
	pthread_cond_signal(&it->changed);
	pthread_mutex_unlock(&it->lock);
}

void xs_opus_close(xsMachine *the)
{
	Decoder *it = decoderOf(the);

	xsmcSetHostData(xsThis, NULL);
	xsmcSetHostDestructor(xsThis, NULL);
	// Counted by the thread, which may be busy.
	pthread_mutex_lock(&it->lock);
	xsmcSetInteger(xsResult, it->bad);
	pthread_mutex_unlock(&it->lock);
	xs_opus_destructor(it);
}
