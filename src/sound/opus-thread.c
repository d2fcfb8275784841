// Decodes or encodes Opus in a separate thread, for opus-threads.ts. The machine's task copies blocks in and results out, and
// waits for the thread only when it closes it: at most as long as a block takes.
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
	#define opus_encode(...) LINKED(opus_encode)(__VA_ARGS__)
	#define opus_encoder_create(...) LINKED(opus_encoder_create)(__VA_ARGS__)
	#define opus_encoder_ctl(...) LINKED(opus_encoder_ctl)(__VA_ARGS__)
	#define opus_encoder_destroy(...) LINKED(opus_encoder_destroy)(__VA_ARGS__)
#endif

#define MAX_BLOCKS 40			// that wait: packets of 60 ms last 2.4 s, as on the C++ firmware
#define MAX_BYTES (32 * 1024)	// of all of them: recorded samples of 1 s
#define MAX_MILLISECONDS 120	// of a packet: RFC 6716, section 2
#define MAX_RESULT 1275			// bytes of a packet that is encoded: RFC 6716, section 3.4
#define BITRATE 32000
#define STACK_BYTES (8 * 1024)	// on a chip, where libopus has its working memory elsewhere

/** A packet, or the samples of one. */
typedef struct Block {
	struct Block *next;
	xsUnsignedValue size;		// 0: a packet that was lost
	uint8_t data[];
} Block;

typedef struct {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	OpusDecoder *decoder;		// or
	OpusEncoder *encoder;
	Block *first, **end;
	xsUnsignedValue bytes;
	int waiting, prebuffer, frame, most, bad;
	bool isWorking, isBusy, isComplete, isClosed;
	int size;					// bytes of the result. The thread leaves that alone until it is read
	opus_int16 result[];		// samples, or a packet
} Opus;

/** The next block once enough wait, as packets or as bytes; NULL if the thread has to wait. */
static Block *take(Opus *it)
{
	Block *block = it->first;

	if (NULL == block)
		it->isWorking = false;
	else if (it->isComplete || (it->waiting >= it->prebuffer) || (it->bytes > MAX_BYTES / 2))
		it->isWorking = true;
	if (!it->isWorking || it->size)
		return NULL;
	it->first = block->next;
	if (NULL == it->first)
		it->end = &it->first;
	it->waiting -= 1;
	it->bytes -= block->size;
	return block;
}

/** @returns bytes of the result; 0 or less if there is none */
static int encode(Opus *it, Block *block)
{
	return opus_encode(it->encoder, (const opus_int16 *)block->data, it->frame, (unsigned char *)it->result, MAX_RESULT);
}

static int decode(Opus *it, Block *block, int *bad)
{
	int samples = 0;

	if (block->size) {
		samples = opus_decode(it->decoder, block->data, block->size, it->result, it->most, 0);
		*bad = samples < 0;
	}
	if (samples <= 0)		// concealed
		samples = opus_decode(it->decoder, NULL, 0, it->result, it->frame, 0);
	return samples * (int)sizeof(opus_int16);
}

static void *work(void *refcon)
{
	Opus *it = refcon;

	pthread_mutex_lock(&it->lock);
	while (!it->isClosed) {
		Block *block = take(it);
		int size, bad = 0;

		if (NULL == block) {
			pthread_cond_wait(&it->changed, &it->lock);
			continue;
		}
		it->isBusy = true;
		pthread_mutex_unlock(&it->lock);
		size = it->encoder ? encode(it, block) : decode(it, block, &bad);
		c_free(block);
		pthread_mutex_lock(&it->lock);
		it->isBusy = false;
		it->bad += bad || (size < 0);
		it->size = size > 0 ? size : 0;
	}
	pthread_mutex_unlock(&it->lock);
	return NULL;
}

/** Frees the codec and its queue. Called without a thread, or after its end. */
static void discard(Opus *it)
{
	while (it->first) {
		Block *block = it->first;
		it->first = block->next;
		c_free(block);
	}
	if (it->decoder)
		opus_decoder_destroy(it->decoder);
	if (it->encoder)
		opus_encoder_destroy(it->encoder);
	c_free(it);
}

void xs_opus_destructor(void *data)
{
	Opus *it = data;

	if (NULL == it)
		return;
	pthread_mutex_lock(&it->lock);
	it->isClosed = true;
	pthread_cond_signal(&it->changed);
	pthread_mutex_unlock(&it->lock);
	pthread_join(it->thread, NULL);
	pthread_cond_destroy(&it->changed);
	pthread_mutex_destroy(&it->lock);
	discard(it);
}

static const xsHostHooks hooks = {xs_opus_destructor, NULL, NULL};

static Opus *opusOf(xsMachine *the)
{
	Opus *it = xsmcGetHostDataValidate(xsThis, (void *)&hooks);

	if (NULL == it)
		xsUnknownError("closed");
	return it;
}

/** Opens libopus. @returns whether there was memory for it */
static bool openLibopus(Opus *it, int rate, bool isEncoder)
{
	int error;

	if (!isEncoder) {
		it->decoder = opus_decoder_create(rate, 1, &error);
		return NULL != it->decoder;
	}
	// Without SILK, which an ESP32-S3 would encode as floating-point, slower than one speaks.
	it->encoder = opus_encoder_create(rate, 1, OPUS_APPLICATION_RESTRICTED_LOWDELAY, &error);
	if (NULL == it->encoder)
		return false;
	opus_encoder_ctl(it->encoder, OPUS_SET_COMPLEXITY(0));
	opus_encoder_ctl(it->encoder, OPUS_SET_BITRATE(BITRATE));
	return true;
}

/** @returns whether there was memory for it */
static bool startThread(Opus *it)
{
	pthread_attr_t attributes;
	int error;

	pthread_mutex_init(&it->lock, NULL);
	pthread_cond_init(&it->changed, NULL);
	pthread_attr_init(&attributes);
#if ESP32
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
#endif
	error = pthread_create(&it->thread, &attributes, work, it);
	pthread_attr_destroy(&attributes);
	if (error) {
		pthread_cond_destroy(&it->changed);
		pthread_mutex_destroy(&it->lock);
	}
	return !error;
}

void xs_opus_constructor(xsMachine *the)
{
	bool isEncoder = xsmcArgc < 3;
	int rate = xsmcToInteger(xsArg(0)), frame = xsmcToInteger(xsArg(1)), most = rate / 1000 * MAX_MILLISECONDS;
	Opus *it;

	if ((rate < 8000) || (rate > 48000) || (frame < 1) || (frame > most))
		xsRangeError("invalid format");
	if (!isReady())
		xsUnknownError("libopus or its memory is missing");
	it = c_calloc(1, sizeof(Opus) + (isEncoder ? MAX_RESULT + 1 : most * sizeof(opus_int16)));
	if (NULL == it)
		xsUnknownError("no memory");
	it->end = &it->first;
	it->frame = frame;
	it->most = most;
	it->prebuffer = isEncoder ? 0 : xsmcToInteger(xsArg(2));
	if (!openLibopus(it, rate, isEncoder) || !startThread(it)) {
		discard(it);
		xsUnknownError("no memory");
	}
	xsmcSetHostData(xsThis, it);
	xsSetHostHooks(xsThis, (xsHostHooks *)&hooks);
}

void xs_opus_write(xsMachine *the)
{
	Opus *it = opusOf(the);
	void *data;
	xsUnsignedValue size;
	Block *block;

	xsmcGetBufferReadable(xsArg(0), &data, &size);
	if (it->encoder && (size != it->frame * sizeof(opus_int16)))
		xsRangeError("invalid size");
	pthread_mutex_lock(&it->lock);
	block = (it->waiting < MAX_BLOCKS) && (it->bytes + size <= MAX_BYTES) ? c_malloc(sizeof(Block) + size) : NULL;
	if (block) {
		block->next = NULL;
		block->size = size;
		c_memcpy(block->data, data, size);
		*it->end = block;
		it->end = &block->next;
		it->waiting += 1;
		it->bytes += size;
		pthread_cond_signal(&it->changed);
	}
	pthread_mutex_unlock(&it->lock);
	xsmcSetBoolean(xsResult, NULL != block);
}

void xs_opus_complete(xsMachine *the)
{
	Opus *it = opusOf(the);

	pthread_mutex_lock(&it->lock);
	it->isComplete = true;
	pthread_cond_signal(&it->changed);
	pthread_mutex_unlock(&it->lock);
}

void xs_opus_read(xsMachine *the)
{
	Opus *it = opusOf(the);
	int size;
	bool isOver;

	pthread_mutex_lock(&it->lock);
	size = it->size;
	isOver = it->isComplete && !it->isBusy && (NULL == it->first);
	pthread_mutex_unlock(&it->lock);
	if (0 == size) {
		if (isOver)
			xsmcSetNull(xsResult);
		return;
	}
	xsmcSetArrayBuffer(xsResult, it->result, size);
	pthread_mutex_lock(&it->lock);
	it->size = 0;
	pthread_cond_signal(&it->changed);
	pthread_mutex_unlock(&it->lock);
}

void xs_opus_close(xsMachine *the)
{
	Opus *it = opusOf(the);

	xsmcSetHostData(xsThis, NULL);
	xsmcSetHostDestructor(xsThis, NULL);
	// Counted by the thread, which may be busy.
	pthread_mutex_lock(&it->lock);
	xsmcSetInteger(xsResult, it->bad);
	pthread_mutex_unlock(&it->lock);
	xs_opus_destructor(it);
}
