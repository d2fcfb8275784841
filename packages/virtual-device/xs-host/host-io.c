/* SPDX-License-Identifier: Apache-2.0 */
#include "host.h"

enum { OUT_OF_MEMORY = 11, USUAL_CAPACITY = 64 * 1024 };

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

void bufferAppendField(Buffer* buffer, const void* data, size_t length)
{
	uint32_t prefix = data ? length : ABSENT;
	bufferAppend(buffer, &prefix, sizeof(prefix));
	if (data)
		bufferAppend(buffer, data, length);
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

Reader readField(Reader* reader)
{
	Reader field = { NULL, NULL };
	uint32_t length;
	memcpy(&length, reader->at, sizeof(length));
	reader->at += sizeof(length);
	if (length != ABSENT) {
		field.at = reader->at;
		field.end = reader->at += length;
	}
	return field;
}

int readCommand(Buffer* command, Reader* body)
{
	uint32_t length;
	if (fread(&length, sizeof(length), 1, stdin) != 1)
		return 0;
	bufferClear(command);
	reserve(command, length);
	body->at = command->data;
	body->end = command->data + length;
	return fread(command->data, 1, length, stdin) == length;
}

void writeReply(void)
{
	uint32_t length = reply.length;
	fwrite(&length, sizeof(length), 1, stdout);
	fwrite(reply.data, 1, reply.length, stdout);
	fflush(stdout);
}
