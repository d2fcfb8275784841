/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * One XS machine in one process, driven over pipes. Commands arrive on standard input and replies leave on standard
 * output, each as a field: its length in 32 bits, low byte first, and its bytes. The script's traces go to standard error.
 *
 *   command   e<script>         evaluate a script
 *             d<message>...     hand messages to globalThis.onHostMessage(headerJson, arrayBuffer?)
 *             m                 collect garbage, then report the heap
 *   reply     .<message>...     what the script posted until its promise jobs had run dry
 *             !<text>           the machine has ended; the exit status says why
 *   message   <header><bytes>, both fields; without bytes the second one has the length 0xffffffff
 *
 * The first reply comes unasked: one header, [major, minor, bits]. The report is one header too:
 * [slots, peakSlots, chunkBytes, peakChunkBytes, peakStackSlots, slotBytes, collections].
 */
#include "host.h"

Options options = { .stackSlots = 4096, .nativeStack = 1024 * 1024 };
Buffer reply;

int hostRandom(void)
{
	static uint32_t pool[64]; /* as many bytes as getentropy gives at once */
	static int left = 0;
	if (options.seed)
		return rand();
	if (!left) {
		if (getentropy(pool, sizeof(pool)))
			end(BAD_USAGE, "the system has no random bytes");
		left = sizeof(pool) / sizeof(*pool);
	}
	return (int)(pool[--left] & RAND_MAX);
}

static int* option(const char* name)
{
	if (!strcmp(name, "--slots"))
		return &options.slots;
	if (!strcmp(name, "--chunk-bytes"))
		return &options.chunkBytes;
	if (!strcmp(name, "--stack-slots"))
		return &options.stackSlots;
	if (!strcmp(name, "--seconds"))
		return &options.seconds;
	if (!strcmp(name, "--seed"))
		return &options.seed;
	return NULL;
}

static void parseOptions(int argc, char** argv)
{
	for (int i = 1; i < argc; i += 2) {
		int* value = option(argv[i]);
		if (value && (i + 1 < argc))
			*value = atoi(argv[i + 1]);
		if (!value || (*value <= 0))
			end(BAD_USAGE, "options: --slots, --chunk-bytes, --stack-slots, --seconds, --seed, each with a number");
	}
}

/* With a limit, the heap has its full size from the start and increments of zero: XS then ends rather than grow. */
static txMachine* createMachine(void)
{
	txCreation creation = {
		.initialChunkSize = options.chunkBytes ? options.chunkBytes : 160 * 1024, /* the firmware, and room between collections */
		.incrementalChunkSize = options.chunkBytes ? 0 : 16 * 1024,
		.initialHeapCount = options.slots ? options.slots + 1 : 12 * 1024, /* XS keeps one slot for itself */
		.incrementalHeapCount = options.slots ? 0 : 1024,
		.stackCount = options.stackSlots + BUILT_IN_STACK,
		.initialKeyCount = 1024,
		.incrementalKeyCount = 256,
		.nameModulo = 127,
		.symbolModulo = 127,
		.parserBufferSize = 1024 * 1024, /* the longest literal; touched only as far as it is used */
		.parserTableModulo = 127,
	};
	return fxCreateMachine(&creation, "xs-mcp", NULL, XS_NO_ID);
}

static void sayHello(void)
{
	char text[64];
	int length = snprintf(text, sizeof(text), "[%d,%d,%d]", XS_MAJOR_VERSION, XS_MINOR_VERSION, (int)sizeof(void*) * 8);
	bufferAppend(&reply, ".", 1);
	bufferAppendField(&reply, text, length);
	bufferAppendField(&reply, NULL, 0);
	writeReply();
}

static void handle(txMachine* the, Reader* command)
{
	bufferClear(&reply);
	bufferAppend(&reply, ".", 1);
	mxTry(the) {
		fxBeginHost(the);
		perform(the, command);
		fxEndHost(the);
	}
	mxCatch(the) {
		fxAbort(the, XS_UNHANDLED_EXCEPTION_EXIT);
	}
}

int main(int argc, char** argv)
{
	Buffer buffer = { 0 };
	Reader command;
	parseOptions(argc, argv);
	srand((unsigned)options.seed);
	guardProcess(&command);
	txMachine* the = createMachine();
	addGlobals(the);
	sayHello();
	while (readCommand(&buffer, &command)) {
		alarm(options.seconds);
		handle(the, &command);
		alarm(0);
		writeReply();
	}
	return 0;
}
