// The SDK's TCP socket, for src/platform/esp32-tcp.ts. lwIP's task appends to its list of received buffers, and the machine's
// removes from it. The SDK does both without a lock, and so loses a buffer, or writes to one that is free (docs/sdk.md).
// Here both functions are others, and all else is the SDK's own file.

#include "lwip/tcp.h"

static err_t receive(void *arg, struct tcp_pcb *pcb, struct pbuf *pb, err_t err);

#define tcp_recv(socket, callback) (tcp_recv)(socket, (callback) == tcpReceive ? receive : (callback))
#define xs_tcp_read sdk_tcp_read
#include "../../modules/io/socket/lwip/tcp.c"	// as seen from the SDK's xs/includes, which is in the include path
#undef xs_tcp_read
#undef tcp_recv

/** Takes what a peer has sent. Runs in lwIP's task. */
static err_t receive(void *arg, struct tcp_pcb *pcb, struct pbuf *pb, err_t err)
{
	TCP tcp = arg;
	TCPBuffer buffer, *end;

	if ((NULL == pb) || (ERR_OK != err))
		return tcpReceive(arg, pcb, pb, err);		// the end of the connection: it does not touch the list

#ifdef mxDebug
	if (fxInNetworkDebugLoop(tcp->the))
		return ERR_MEM;
#endif

	buffer = c_calloc(1, sizeof(TCPBufferRecord));
	if (NULL == buffer)
		return ERR_MEM;		// lwIP tries again
	buffer->pb = pb;
	buffer->bytes = pb->tot_len;
	modInstrumentationAdjust(NetworkBytesRead, pb->tot_len);

	builtinCriticalSectionBegin();
	for (end = &tcp->buffers; NULL != *end; end = &(*end)->next)
		;
	*end = buffer;
	builtinCriticalSectionEnd();

	if (tcp->triggerable & kTCPReadable)
		tcpTrigger(tcp, kTCPReadable);
	return ERR_OK;
}

/** Takes the first buffer, of which all has been read, from the list. */
static void removeFirst(TCP tcp)
{
	TCPBuffer buffer = tcp->buffers;

	builtinCriticalSectionBegin();
	tcp->buffers = buffer->next;
	builtinCriticalSectionEnd();

	tcp_recved_safe(tcp->skt, buffer->pb->tot_len);
	pbuf_free_safe(buffer->pb);
	c_free(buffer);
	if ((NULL == tcp->buffers) && tcp->error)
		tcpTrigger(tcp, kTCPError);
}

/** Copies bytes that have arrived; the list has them. */
static void take(TCP tcp, uint8_t *out, int count)
{
	while (count > 0) {
		TCPBuffer buffer = tcp->buffers;
		uint16_t part = (count < buffer->bytes) ? (uint16_t)count : buffer->bytes;

		pbuf_copy_partial(buffer->pb, out, part, buffer->pb->tot_len - buffer->bytes);
		out += part;
		count -= part;
		buffer->bytes -= part;
		if (0 == buffer->bytes)
			removeFirst(tcp);
	}
}

/** Reads a byte, or as many bytes as its argument says: a number, or a buffer to fill. Default: all that have arrived. */
void xs_tcp_read(xsMachine *the)
{
	TCP tcp = xsmcGetHostDataValidate(xsThis, (void *)&xsTCPHooks);
	TCPBuffer buffer;
	int available = 0, count;
	void *out = NULL;

	for (buffer = tcp->buffers; NULL != buffer; buffer = buffer->next)
		available += buffer->bytes;
	if (0 == available)
		return;

	if (kIOFormatNumber == tcp->format) {
		uint8_t value;

		take(tcp, &value, 1);
		xsmcSetInteger(xsResult, value);
		return;
	}

	count = available;
	if (xsmcArgc && (xsReferenceType == xsmcTypeOf(xsArg(0)))) {
		xsUnsignedValue size;

		xsmcGetBufferWritable(xsArg(0), &out, &size);
		count = (int)size;
	}
	else if (xsmcArgc)
		count = xsmcToInteger(xsArg(0));
	if ((count <= 0) || (count > available))
		xsUnknownError("invalid");

	if (out)
		xsmcSetInteger(xsResult, count);
	else
		out = xsmcSetArrayBuffer(xsResult, NULL, count);
	take(tcp, out, count);
}
