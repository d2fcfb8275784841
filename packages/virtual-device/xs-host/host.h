/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Shared declarations of the host's parts.
 */
#ifndef XS_MCP_HOST_H
#define XS_MCP_HOST_H

#include "xsAll.h"
#include "xsScript.h"

/* Exit statuses: those of XS plus ten, as other XS hosts have them. 0 is the end of standard input. */
enum { BAD_USAGE = 2, XS_STATUS = 10 };

/* From the command line; 0 where not given. */
typedef struct {
	int slots; /* built-ins included; a limit */
	int chunkBytes; /* a limit */
	int stackSlots; /* built-ins excluded: a device has those in flash */
	int nativeStack; /* set by the host: bytes that native code may recurse through, such as JSON and the parser */
	int seed; /* of Math.random; without one it takes the system's random bytes, as a chip does */
	int seconds; /* that one command may take; for a machine whose parent no longer watches it */
} Options;

extern Options options;

/* A buffer that grows, and a view of one that moves. */
typedef struct {
	char* data;
	size_t length;
	size_t capacity;
} Buffer;

typedef struct {
	char* at;
	char* end;
} Reader;

/* The length of a field that is absent. */
#define ABSENT UINT32_MAX

/* The reply under construction. */
extern Buffer reply;

/* Ends the process with status 11 where the computer has no memory left. */
void bufferAppend(Buffer* buffer, const void* data, size_t length);
/* Appends a field, absent without data. */
void bufferAppendField(Buffer* buffer, const void* data, size_t length);
/* Empties a buffer, and gives memory back that only an unusual message needed. */
void bufferClear(Buffer* buffer);
/* Moves `reader` over one field and returns its content, with `at` NULL if it is absent. */
Reader readField(Reader* reader);
/* Waits for a command on standard input; 0 at its end. */
int readCommand(Buffer* command, Reader* body);
/* Writes the reply to standard output. */
void writeReply(void);

/* Call first, from main: takes the place of the native stack, handles its overflow, limits the process's memory. */
void guardProcess(void* stackBase);

/* Sends the text as last reply and ends the process. */
void end(int status, const char* text) XS_FUNCTION_NORETURN;

/* Takes one command, whose reply it appends to `reply`. The script's exceptions pass through. */
void perform(txMachine* the, Reader* command);

/* Gives the script post() and trace(). */
void addGlobals(txMachine* the);

/* Slots that the built-ins of a machine without a preloaded parent keep on the stack. */
enum { BUILT_IN_STACK = mxStackIndexCount - (mxInstanceInspectorsStackIndex + 1) };

#endif
