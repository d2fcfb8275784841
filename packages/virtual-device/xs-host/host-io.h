/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Netstrings (`<length>:<body>,`) over standard input and output, and the two views they need: a buffer that grows and
 * a reader that moves over one.
 */
#ifndef XS_MCP_HOST_IO_H
#define XS_MCP_HOST_IO_H

#include <stddef.h>

typedef struct {
	char* data;
	size_t length;
	size_t capacity;
} Buffer;

typedef struct {
	char* at;
	char* end;
} Reader;

/* Ends the process with status 11 where the computer has no memory left. */
void bufferAppend(Buffer* buffer, const void* data, size_t length);
void bufferAppendNetstring(Buffer* buffer, const void* data, size_t length);
/* Empties a buffer, and gives memory back that only an unusual message needed. */
void bufferClear(Buffer* buffer);

/* The next byte, or -1 at the end. */
int readByte(Reader* reader);
/* Moves `reader` over one netstring and sets `body` to what it holds; 0 where there is none. */
int readNetstring(Reader* reader, Reader* body);

/* Waits for a netstring on standard input; 0 at its end, or where what comes is none. */
int readCommand(Buffer* command, Reader* body);
/* Writes the buffer's content as one netstring to standard output. */
void writeNetstring(const Buffer* buffer);

#endif
