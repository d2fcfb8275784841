/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Commands of Node to the machine, and globals of the script's realm.
 */
#include "host.h"

/* ---- Globals ---- */

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

void addGlobals(txMachine* the)
{
	addGlobal(the, "post", post);
	addGlobal(the, "trace", trace);
}

/* ---- Commands ---- */

static int nextByte(void* reader)
{
	return readByte(reader);
}

static void evaluate(txMachine* the, Reader* source)
{
	txSlot* program = mxProgram.value.reference;
	txSlot* realm = mxModuleInstanceInternal(program)->value.module.realm;
	txScript* script = fxParseScript(the, source, nextByte, mxProgramFlag);
	fxRunScript(the, script, mxRealmGlobal(realm), NULL, mxRealmClosures(realm)->value.reference, NULL, program);
	mxPop();
}

/* Promise jobs are run here, when the script has returned: there is nothing to schedule. */
void fxQueuePromiseJobs(txMachine* the)
{
}

static void runJobs(txMachine* the)
{
	do {
		while (mxPendingJobs.value.reference->next)
			fxRunPromiseJobs(the);
		fxEndJob(the); /* may clean up after collected objects, and so queue jobs */
	} while (mxPendingJobs.value.reference->next);
}

static void callOnHostMessage(txMachine* the, Reader* header, Reader* bytes)
{
	mxPush(mxGlobal);
	mxPush(mxGlobal);
	mxGetID(fxID(the, "onHostMessage"));
	if (!fxIsCallable(the, the->stack))
		mxTypeError("globalThis.onHostMessage is no function");
	mxCall();
	mxPushUndefined();
	fxStringBuffer(the, the->stack, header->at, header->end - header->at);
	mxPushUndefined();
	if (bytes)
		fxArrayBuffer(the, the->stack, bytes->at, bytes->end - bytes->at, -1);
	mxRunCount(2);
	mxPop();
}

static int deliver(txMachine* the, Reader* messages)
{
	while (messages->at < messages->end) {
		Reader header, bytes;
		int kind = readByte(messages);
		if (((kind != 'h') && (kind != 'b')) || !readNetstring(messages, &header))
			return 0;
		if ((kind == 'b') && !readNetstring(messages, &bytes))
			return 0;
		mxTry(the) {
			callOnHostMessage(the, &header, kind == 'b' ? &bytes : NULL);
		}
		mxCatch(the) {
			fxAbort(the, XS_UNHANDLED_EXCEPTION_EXIT);
		}
		runJobs(the);
	}
	return 1;
}

static void report(txMachine* the)
{
	char text[160];
	long peak = (long)(the->stackTop - the->stackPeak) - BUILT_IN_STACK;
	fxCollectGarbage(the);
	int length = snprintf(text, sizeof(text), "[%d,%d,%d,%d,%ld,%d,%d]", the->currentHeapCount, the->peakHeapCount,
		the->currentChunksSize, the->peakChunksSize, peak > 0 ? peak : 0, (int)sizeof(txSlot),
		the->garbageCollectionCount);
	bufferAppend(&reply, "h", 1);
	bufferAppendNetstring(&reply, text, length);
}

int perform(txMachine* the, Reader* command)
{
	int known = 1;
	switch (readByte(command)) {
	case 'e':
		evaluate(the, command);
		break;
	case 'd':
		known = deliver(the, command);
		break;
	case 'm':
		report(the);
		break;
	default:
		known = 0;
		break;
	}
	runJobs(the);
	fxCheckUnhandledRejections(the, 1);
	return known;
}
