/* SPDX-License-Identifier: Apache-2.0 */
#include "host-io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OUT_OF_MEMORY = 11, USUAL_CAPACITY = 64 * 1024, MAX_DIGITS = 9 };

static void reserve(Buffer* buffer, size_t capacity)
{
	if (capacity <= buffer->capacity)
		return;
	while (buffer->capacity < capacity)
		buffer->capacity = buffer->capacity ? buffer->capacity * 2 : 1024;
	buffer->data = realloc(buffer->data, buffer->capacity);
	if (!buffer->data)
		_exit(OUT_OF_MEMORY);
}

void bufferAppend(Buffer* buffer, const void* data, size_t length)
{
	reserve(buffer, buffer->length + length);
	if (length)
		memcpy(buffer->data + buffer->length, data, length);
	buffer->length += length;
}

void bufferAppendNetstring(Buffer* buffer, const void* data, size_t length)
{
	char prefix[24];
	bufferAppend(buffer, prefix, snprintf(prefix, sizeof(prefix), "%zu:", length));
	bufferAppend(buffer, data, length);
	bufferAppend(buffer, ",", 1);
}

void bufferClear(Buffer* buffer)
{
	buffer->length = 0;
	if (buffer->capacity > USUAL_CAPACITY) {
		free(buffer->data);
		buffer->data = NULL;
		buffer->capacity = 0;
	}
}

int readByte(Reader* reader)
{
	return reader->at < reader->end ? (unsigned char)*reader->at++ : -1;
}

int readNetstring(Reader* reader, Reader* body)
{
	size_t length = 0;
	int byte, digits = 0;
	while (((byte = readByte(reader)) >= '0') && (byte <= '9') && (digits++ < MAX_DIGITS))
		length = length * 10 + (byte - '0');
	if ((byte != ':') || !digits || (length >= (size_t)(reader->end - reader->at)))
		return 0;
	body->at = reader->at;
	body->end = reader->at + length;
	reader->at += length;
	return readByte(reader) == ',';
}

int readCommand(Buffer* command, Reader* body)
{
	size_t length = 0;
	int byte, digits = 0;
	while (((byte = getchar()) >= '0') && (byte <= '9') && (digits++ < MAX_DIGITS))
		length = length * 10 + (byte - '0');
	if ((byte != ':') || !digits)
		return 0;
	bufferClear(command);
	reserve(command, length);
	command->length = fread(command->data, 1, length, stdin);
	body->at = command->data;
	body->end = command->data + command->length;
	return (command->length == length) && (getchar() == ',');
}

void writeNetstring(const Buffer* buffer)
{
	printf("%zu:", buffer->length);
	fwrite(buffer->data, 1, buffer->length, stdout);
	putchar(',');
	fflush(stdout);
}
