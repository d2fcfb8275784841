/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Memory, both stacks, and how a machine ends. Whatever a script does, the process ends with a status that tells what.
 */
#include "host.h"

#include <signal.h>
#include <sys/resource.h>

/* A machine without limits may still not eat the computer it runs on: most bytes of heap, and of all memory. */
#define MAX_HEAP (256 * 1024 * 1024)
#define MAX_MEMORY (512 * 1024 * 1024)
/* How far below the base of the native stack a fault counts as its overflow. */
#define MAX_STACK (64 * 1024 * 1024)

static char* nativeStackBase;

/* ---- Memory ---- */

static int fits(txMachine* the, size_t more)
{
	size_t held = (size_t)the->maximumChunksSize + ((size_t)the->maximumHeapCount * sizeof(txSlot));
	return held + more <= MAX_HEAP;
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

/* ---- Native stack ---- */

char* fxCStackLimit(void)
{
	return nativeStackBase - options.nativeStack;
}

/* Last resort for native recursion that does not check its stack: end with a status all the same. */
static void onFault(int signal, siginfo_t* info, void* context)
{
	char* address = info->si_addr;
	if ((address < nativeStackBase) && (address > nativeStackBase - MAX_STACK))
		_exit(XS_STATUS + XS_STACK_OVERFLOW_EXIT);
	_exit(128 + signal);
}

void guardProcess(void* stackBase)
{
	static char alternateStack[64 * 1024];
	stack_t alternate = { .ss_sp = alternateStack, .ss_size = sizeof(alternateStack) };
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_ONSTACK };
	struct rlimit memory = { MAX_MEMORY, MAX_MEMORY };
	struct rlimit stack;
	nativeStackBase = stackBase;
	if (!getrlimit(RLIMIT_STACK, &stack) && (stack.rlim_cur / 2 < (rlim_t)options.nativeStack))
		options.nativeStack = stack.rlim_cur / 2;
	setrlimit(RLIMIT_AS, &memory);
	action.sa_sigaction = onFault;
	sigaltstack(&alternate, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}

/* ---- The end ---- */

void end(int status, const char* text)
{
	bufferClear(&reply);
	bufferAppend(&reply, "!", 1);
	bufferAppend(&reply, text, strlen(text));
	writeReply();
	_exit(status);
}

/* The exception as its stack, which begins with its name and message; as text where it has no stack. */
static void endWithException(txMachine* the, int status)
{
	char text[4096] = "an exception that has no text";
	mxTry(the) {
		fxBeginHost(the); /* within a frame, what follows does not count as a job of its own */
		mxPush(mxException);
		fxToStringBuffer(the, the->stack, text, sizeof(text));
		if (mxIsReference(&mxException)) {
			mxPush(mxException);
			mxGetID(mxID(_stack));
			if (mxIsStringPrimitive(the->stack))
				snprintf(text, sizeof(text), "%s", the->stack->value.string);
		}
	}
	mxCatch(the) {
	}
	end(XS_STATUS + status, text);
}

static void describe(txMachine* the, int status, char* text, size_t size)
{
	if (status == XS_STACK_OVERFLOW_EXIT)
		snprintf(text, size, "stack overflow: %ld of %d slots, or %d bytes of native stack",
			(long)(the->stackTop - the->stack) - BUILT_IN_STACK, options.stackSlots, options.nativeStack);
	else if (status == XS_NOT_ENOUGH_MEMORY_EXIT)
		snprintf(text, size, "out of memory: %d of %d slots, %d of %d chunk bytes", the->currentHeapCount,
			the->maximumHeapCount, the->currentChunksSize, the->maximumChunksSize);
	else if (status == XS_NO_MORE_KEYS_EXIT)
		snprintf(text, size, "out of memory: %d property names", the->keyIndex);
	else
		snprintf(text, size, "XS ended with status %d", status);
}

/* Whether the script's global function abort(reason, exception) returns false, as Moddable's define xs.abortHook has it. */
static int ignores(txMachine* the, txString reason)
{
	int ignored = 0;
	txSlot exception = mxException;
	mxTry(the) {
		fxBeginHost(the);
		mxPush(exception);
		txSlot* copy = the->stack;
		mxException.kind = XS_UNDEFINED_KIND;
		mxPush(mxGlobal);
		mxPush(mxGlobal);
		mxGetID(fxID(the, "abort"));
		if (fxIsCallable(the, the->stack)) {
			mxCall();
			mxPushStringC(reason);
			mxPushSlot(copy);
			mxRunCount(2);
			ignored = (the->stack->kind == XS_BOOLEAN_KIND) && !the->stack->value.boolean;
		}
		mxException.kind = copy->kind;
		mxException.value = copy->value;
		fxEndHost(the);
	}
	mxCatch(the) {
	}
	return ignored;
}

/* XS comes here when it cannot go on. On a device it would restart. */
void fxAbort(txMachine* the, int status)
{
	static int again = 0;
	char text[160];
	if (!again && ((status == XS_UNHANDLED_EXCEPTION_EXIT) || (status == XS_UNHANDLED_REJECTION_EXIT))) {
		if (ignores(the, status == XS_UNHANDLED_EXCEPTION_EXIT ? "unhandled exception" : "unhandled rejection"))
			return;
		again = 1;
		endWithException(the, status);
	}
	describe(the, status, text, sizeof(text));
	end(XS_STATUS + status, text);
}
