/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Shared declarations of the host's parts.
 */
#ifndef XS_MCP_HOST_H
#define XS_MCP_HOST_H

#include "host-io.h"
#include "xsAll.h"
#include "xsScript.h"

/* Exit statuses: those of XS plus ten, as other XS hosts have them. 0 is the end of standard input. */
enum { BAD_USAGE = 2, BAD_COMMAND = 3, XS_STATUS = 10 };

/* From the command line; 0 where not given. */
typedef struct {
	int slots; /* built-ins included; a limit */
	int chunkBytes; /* a limit */
	int stackSlots; /* built-ins excluded: a device has those in flash */
	int nativeStack; /* bytes that native code may recurse through, such as JSON and the parser */
	int seed; /* of Math.random; without one it takes the system's random bytes, as a chip does */
	int seconds; /* that one command may take; for a machine whose parent no longer watches it */
} Options;

extern Options options;

/* The reply under construction. */
extern Buffer reply;

/* Call first, from main: takes the place of the native stack, handles its overflow, limits the process's memory. */
void guardProcess(void* stackBase);

/* Sends the text as last reply and ends the process. */
void end(int status, const char* text) XS_FUNCTION_NORETURN;

/* Takes one command, whose reply it appends to `reply`; 0 where it is malformed. The script's exceptions pass through. */
int perform(txMachine* the, Reader* command);

/* Gives the script post() and trace(). */
void addGlobals(txMachine* the);

/* Slots that the built-ins of a machine without a preloaded parent keep on the stack. */
enum { BUILT_IN_STACK = mxStackIndexCount - (mxInstanceInspectorsStackIndex + 1) };

#endif
