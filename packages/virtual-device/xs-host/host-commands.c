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
	bufferAppendField(&reply, mxArgv(0)->value.string, strlen(mxArgv(0)->value.string));
	bufferAppendField(&reply, bytes, hasBytes ? fxGetArrayBufferLength(the, mxArgv(1)) : 0);
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

static int nextByte(void* source)
{
	Reader* reader = source;
	return reader->at < reader->end ? (unsigned char)*reader->at++ : -1;
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

static void callOnHostMessage(txMachine* the, Reader header, Reader bytes)
{
	mxPush(mxGlobal);
	mxPush(mxGlobal);
	mxGetID(fxID(the, "onHostMessage"));
	if (!fxIsCallable(the, the->stack))
		mxTypeError("globalThis.onHostMessage is no function");
	mxCall();
	mxPushUndefined();
	fxStringBuffer(the, the->stack, header.at, header.end - header.at);
	mxPushUndefined();
	if (bytes.at)
		fxArrayBuffer(the, the->stack, bytes.at, bytes.end - bytes.at, -1);
	mxRunCount(2);
	mxPop();
}

static void deliver(txMachine* the, Reader* messages)
{
	while (messages->at < messages->end) {
		Reader header = readField(messages), bytes = readField(messages);
		mxTry(the) {
			callOnHostMessage(the, header, bytes);
		}
		mxCatch(the) {
			fxAbort(the, XS_UNHANDLED_EXCEPTION_EXIT);
		}
		runJobs(the);
	}
}

static void report(txMachine* the)
{
	char text[160];
	long peak = (long)(the->stackTop - the->stackPeak) - BUILT_IN_STACK;
	fxCollectGarbage(the);
	int length = snprintf(text, sizeof(text), "[%d,%d,%d,%d,%ld,%d,%d]", the->currentHeapCount, the->peakHeapCount,
		the->currentChunksSize, the->peakChunksSize, peak > 0 ? peak : 0, (int)sizeof(txSlot),
		the->garbageCollectionCount);
	bufferAppendField(&reply, text, length);
	bufferAppendField(&reply, NULL, 0);
}

void perform(txMachine* the, Reader* command)
{
	switch (nextByte(command)) {
	case 'e':
		evaluate(the, command);
		break;
	case 'd':
		deliver(the, command);
		break;
	case 'm':
		report(the);
		break;
	}
	runJobs(the);
	fxCheckUnhandledRejections(the, 1);
}
