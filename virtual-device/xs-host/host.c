/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * One XS machine in one process, driven over pipes. Commands arrive on standard input and replies leave on standard
 * output, each as a netstring (`<length>:<body>,`); what the script traces goes to standard error.
 *
 *   command   e<script>         evaluate a script
 *             d<message>...     hand messages to globalThis.onHostMessage(headerJson, arrayBuffer?)
 *             m                 collect garbage, then report the heap
 *   reply     .<message>...     what the script posted until its promise jobs had run dry
 *             !<text>           the machine has ended; the exit status says why
 *   message   h<header> | b<header><bytes>, both netstrings
 *
 * The first reply comes unasked: one header, [major, minor, bits]. The report is one header too.
 */
#include "xsAll.h"
#include "xsScript.h"
#include "host-io.h"

#include <signal.h>
#include <sys/resource.h>

/* Exit statuses: those of XS plus ten, as other XS hosts have them. 0 is the end of standard input. */
enum { BAD_USAGE = 2, BAD_COMMAND = 3, XS_STATUS = 10 };

/* A machine without limits may still not eat the computer it runs on: most bytes of heap, and of all memory. */
#define MOST_HEAP (256 * 1024 * 1024)
#define MOST_MEMORY (512 * 1024 * 1024)
/* Native stack a script may use through JSON, regular expressions and the parser. The rest of 8 MB is left as margin. */
#define NATIVE_STACK (1024 * 1024)

typedef struct {
	int slots;
	int chunkBytes;
	int stackSlots;
	int nativeStack;
	int seconds;
} Options;

static Options options = { 0, 0, 4096, NATIVE_STACK, 0 };
static Buffer reply;
static char* nativeStackBase;

/* ---- What XS asks of its platform ---- */

char* fxCStackLimit(void)
{
	return nativeStackBase - options.nativeStack;
}

/* Promise jobs are run by the command loop: nothing to schedule. */
void fxQueuePromiseJobs(txMachine* the)
{
}

static int fits(txMachine* the, size_t more)
{
	size_t held = (size_t)the->maximumChunksSize + ((size_t)the->maximumHeapCount * sizeof(txSlot));
	return held + more <= MOST_HEAP;
}

/* A growing heap grows by a quarter of itself, or collections would come too often. Zero means that it may not grow. */
static txSize growth(txSize increment, txSize held)
{
	return increment && (increment < held / 4) ? held / 4 : increment;
}

void* fxAllocateChunks(txMachine* the, txSize size)
{
	the->minimumChunksSize = growth(the->minimumChunksSize, the->maximumChunksSize);
	return fits(the, size) ? malloc(size) : NULL;
}

void fxFreeChunks(txMachine* the, void* chunks)
{
	free(chunks);
}

txSlot* fxAllocateSlots(txMachine* the, txSize count)
{
	the->minimumHeapCount = growth(the->minimumHeapCount, the->maximumHeapCount);
	return fits(the, count * sizeof(txSlot)) ? malloc(count * sizeof(txSlot)) : NULL;
}

void fxFreeSlots(txMachine* the, void* slots)
{
	free(slots);
}

/* ---- How a machine ends ---- */

static void end(int status, const char* text)
{
	bufferClear(&reply);
	bufferAppend(&reply, "!", 1);
	bufferAppend(&reply, text, strlen(text));
	writeNetstring(&reply);
	_exit(status);
}

/* The exception as its stack, which begins with its name and message; as text where it has no stack. */
static void endWithException(txMachine* the, int status)
{
	char text[4096] = "exception";
	mxTry(the) {
		fxBeginHost(the); /* within a frame, what follows does not count as a job of its own */
		mxPush(mxException);
		fxToStringBuffer(the, the->stack, text, sizeof(text));
		mxPop();
		if (mxIsReference(&mxException)) {
			mxPush(mxException);
			mxGetID(mxID(_stack));
			if (mxIsStringPrimitive(the->stack))
				snprintf(text, sizeof(text), "%s", the->stack->value.string);
			mxPop();
		}
	}
	mxCatch(the) {
	}
	end(XS_STATUS + status, text);
}

void fxAbort(txMachine* the, int status)
{
	static int again = 0;
	char text[160];
	if (!again++ && ((status == XS_UNHANDLED_EXCEPTION_EXIT) || (status == XS_UNHANDLED_REJECTION_EXIT)))
		endWithException(the, status);
	if (status == XS_STACK_OVERFLOW_EXIT)
		snprintf(text, sizeof(text), "stack overflow: %ld of %ld slots, or %d bytes of native stack",
			(long)(the->stackTop - the->stack), (long)(the->stackTop - the->stackBottom), options.nativeStack);
	else if (status == XS_NO_MORE_KEYS_EXIT)
		snprintf(text, sizeof(text), "too many property names: %d", the->keyIndex);
	else
		snprintf(text, sizeof(text), "out of memory: %d of %d slots, %d of %d chunk bytes", the->currentHeapCount,
			the->maximumHeapCount, the->currentChunksSize, the->maximumChunksSize);
	end(XS_STATUS + status, text);
}

/* Last resort for recursion in native code that does not check its stack: end with a status all the same. */
static void onFault(int signal, siginfo_t* info, void* context)
{
	char* address = info->si_addr;
	if ((address < nativeStackBase) && (address > nativeStackBase - (64 * 1024 * 1024)))
		_exit(XS_STATUS + XS_STACK_OVERFLOW_EXIT);
	_exit(128 + signal);
}

static void catchFaults(void)
{
	static char stack[64 * 1024];
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_ONSTACK };
	action.sa_sigaction = onFault;
	sigaltstack(&alternate, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}

/* ---- What the script finds in its realm ---- */

/* post(headerJson, arrayBuffer?) */
static void post(txMachine* the)
{
	int hasBytes = (mxArgc > 1) && !mxIsUndefined(mxArgv(1));
	if ((mxArgc < 1) || !mxIsStringPrimitive(mxArgv(0)))
		mxTypeError("post: the header is no string");
	void* bytes = hasBytes ? fxToArrayBuffer(the, mxArgv(1)) : NULL;
	bufferAppend(&reply, hasBytes ? "b" : "h", 1);
	bufferAppendNetstring(&reply, mxArgv(0)->value.string, strlen(mxArgv(0)->value.string));
	if (hasBytes)
		bufferAppendNetstring(&reply, bytes, fxGetArrayBufferLength(the, mxArgv(1)));
}

/* trace(...texts): as Moddable's, without spaces and without a line feed. */
static void trace(txMachine* the)
{
	for (txInteger i = 0; i < mxArgc; i++)
		fputs(fxToString(the, mxArgv(i)), stderr);
}

static void addGlobal(txMachine* the, txString name, txCallback callback)
{
	fxNewHostFunction(the, callback, 0, fxID(the, name), XS_NO_ID);
	txSlot* property = fxGlobalSetProperty(the, mxGlobal.value.reference, fxID(the, name), 0, XS_OWN);
	property->flag = XS_DONT_ENUM_FLAG;
	property->kind = the->stack->kind;
	property->value = the->stack->value;
	mxPop();
}

/* ---- Commands ---- */

static int nextByte(void* reader)
{
	return readByte(reader);
}

static void evaluate(txMachine* the, Reader* body)
{
	txSlot* program = mxProgram.value.reference;
	txSlot* realm = mxModuleInstanceInternal(program)->value.module.realm;
	txScript* script = fxParseScript(the, body, nextByte, mxProgramFlag);
	fxRunScript(the, script, mxRealmGlobal(realm), NULL, mxRealmClosures(realm)->value.reference, NULL, program);
	mxPop();
}

static void runJobs(txMachine* the)
{
	do {
		while (mxPendingJobs.value.reference->next)
			fxRunPromiseJobs(the);
		fxEndJob(the); /* may clean up after collected objects, and so queue jobs */
	} while (mxPendingJobs.value.reference->next);
}

static int deliverOne(txMachine* the, Reader* body)
{
	Reader header, bytes;
	int kind = readByte(body);
	if (((kind != 'h') && (kind != 'b')) || !readNetstring(body, &header))
		return 0;
	if ((kind == 'b') && !readNetstring(body, &bytes))
		return 0;
	mxPush(mxGlobal);
	mxPush(mxGlobal);
	mxGetID(fxID(the, "onHostMessage"));
	if (!fxIsCallable(the, the->stack))
		mxTypeError("globalThis.onHostMessage is no function");
	mxCall();
	mxPushUndefined();
	fxStringBuffer(the, the->stack, header.at, header.end - header.at);
	if (kind == 'b') {
		mxPushUndefined();
		fxArrayBuffer(the, the->stack, bytes.at, bytes.end - bytes.at, -1);
	}
	mxRunCount(kind == 'b' ? 2 : 1);
	mxPop();
	runJobs(the);
	return 1;
}

static void report(txMachine* the)
{
	char text[160];
	fxCollectGarbage(the);
	int length = snprintf(text, sizeof(text), "[%d,%d,%d,%d,%ld,%d]", the->currentHeapCount, the->peakHeapCount,
		the->currentChunksSize, the->peakChunksSize, (long)(the->stackTop - the->stackPeak), (int)sizeof(txSlot));
	bufferAppend(&reply, "h", 1);
	bufferAppendNetstring(&reply, text, length);
}

static int perform(txMachine* the, Reader* body)
{
	switch (readByte(body)) {
	case 'e':
		evaluate(the, body);
		break;
	case 'd':
		while (body->at < body->end)
			if (!deliverOne(the, body))
				return 0;
		break;
	case 'm':
		report(the);
		break;
	default:
		return 0;
	}
	runJobs(the);
	fxCheckUnhandledRejections(the, 1);
	return 1;
}

static void serve(txMachine* the)
{
	Buffer command = { 0 };
	Reader body;
	volatile int known = 1;
	while (readCommand(&command, &body)) {
		alarm(options.seconds);
		bufferClear(&reply);
		bufferAppend(&reply, ".", 1);
		mxTry(the) {
			fxBeginHost(the);
			known = perform(the, &body);
			fxEndHost(the);
		}
		mxCatch(the) {
			fxAbort(the, XS_UNHANDLED_EXCEPTION_EXIT);
		}
		if (!known)
			end(BAD_COMMAND, "malformed command");
		alarm(0);
		writeNetstring(&reply);
	}
}

/* ---- Start ---- */

static int parseOptions(int argc, char** argv)
{
	for (int i = 1; i < argc; i += 2) {
		int value = i + 1 < argc ? atoi(argv[i + 1]) : 0;
		if (value <= 0)
			return 0;
		else if (!strcmp(argv[i], "--slots"))
			options.slots = value;
		else if (!strcmp(argv[i], "--chunk-bytes"))
			options.chunkBytes = value;
		else if (!strcmp(argv[i], "--stack-slots"))
			options.stackSlots = value;
		else if (!strcmp(argv[i], "--native-stack"))
			options.nativeStack = value;
		else if (!strcmp(argv[i], "--seconds"))
			options.seconds = value;
		else
			return 0;
	}
	return 1;
}

static txMachine* createMachine(void)
{
	txCreation creation = {
		.initialChunkSize = options.chunkBytes ? options.chunkBytes : 32 * 1024,
		.incrementalChunkSize = options.chunkBytes ? 0 : 16 * 1024,
		.initialHeapCount = options.slots ? options.slots + 1 : 8 * 1024, /* XS keeps one slot for itself */
		.incrementalHeapCount = options.slots ? 0 : 1024,
		.stackCount = options.stackSlots,
		.initialKeyCount = 1024,
		.incrementalKeyCount = 256,
		.nameModulo = 127,
		.symbolModulo = 127,
		.parserBufferSize = 1024 * 1024, /* the longest literal; touched only as far as it is used */
		.parserTableModulo = 127,
	};
	return fxCreateMachine(&creation, "xs-mcp", NULL, XS_NO_ID);
}

int main(int argc, char** argv)
{
	char hello[64];
	struct rlimit stack;
	struct rlimit memory = { MOST_MEMORY, MOST_MEMORY };
	nativeStackBase = (char*)&stack;
	if (!parseOptions(argc, argv))
		end(BAD_USAGE, "usage: xs-host [--slots|--chunk-bytes|--stack-slots|--native-stack|--seconds <number>]...");
	if (!getrlimit(RLIMIT_STACK, &stack) && (stack.rlim_cur / 2 < (rlim_t)options.nativeStack))
		options.nativeStack = stack.rlim_cur / 2;
	setrlimit(RLIMIT_AS, &memory);
	catchFaults();
	txMachine* the = createMachine();
	addGlobal(the, "post", post);
	addGlobal(the, "trace", trace);
	int length = snprintf(hello, sizeof(hello), "[%d,%d,%d]", XS_MAJOR_VERSION, XS_MINOR_VERSION, (int)sizeof(void*) * 8);
	bufferAppend(&reply, ".h", 2);
	bufferAppendNetstring(&reply, hello, length);
	writeNetstring(&reply);
	serve(the);
	return 0;
}
