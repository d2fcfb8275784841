// The SDK's TCP socket, for src/platform/tcp/esp32-tcp.ts. lwIP's task appends to its list of received buffers, and the machine's
// removes from it. The SDK does both without a lock, and so loses a buffer, or writes to one that is free. What arrives while a
// socket is taken over, as each connection of a server is, it loses, too (docs/sdk.md).
// Here these functions are others, and all else is the SDK's own file.

#include "lwip/tcp.h"
#include "lwip/priv/tcp_priv.h"
#include "lwip/priv/tcpip_priv.h"

static err_t receive(void *arg, struct tcp_pcb *pcb, struct pbuf *pb, err_t err);
static err_t refuse(void *arg, struct tcp_pcb *pcb, struct pbuf *pb, err_t err);

// A socket of the SDK's code receives nothing until the functions below say so.
#define tcp_recv(socket, callback) (tcp_recv)(socket, (callback) == tcpReceive ? refuse : (callback))
#define xs_tcp_constructor sdk_tcp_constructor
#define xs_tcp_read sdk_tcp_read
#define xs_listener_read sdk_listener_read
#include "../../modules/io/socket/lwip/tcp.c"	// as seen from the SDK's xs/includes, which is in the include path
#undef xs_tcp_constructor
#undef xs_tcp_read
#undef xs_listener_read
#undef tcp_recv

/** Leaves what a peer has sent to lwIP, which offers it again. */
static err_t refuse(void *arg, struct tcp_pcb *pcb, struct pbuf *pb, err_t err)
{
	return ERR_MEM;
}

typedef struct {
	struct tcpip_api_call_data call;
	TCP tcp;
	tcp_recv_fn callback;
} SetReceiverRecord;

static err_t setReceiverInTask(struct tcpip_api_call_data *call)
{
	TCP tcp = ((SetReceiverRecord *)call)->tcp;

	if (NULL == tcp->skt)		// reset by its peer
		return ERR_OK;
	tcp_recv(tcp->skt, ((SetReceiverRecord *)call)->callback);
	if (tcp->skt->refused_data)
		tcp_process_refused_data(tcp->skt);
	return ERR_OK;
}

/** Says what happens with what a socket receives. lwIP's task does it, so it is not in the other function meanwhile. */
static void setReceiver(TCP tcp, tcp_recv_fn callback)
{
	SetReceiverRecord record = {.tcp = tcp, .callback = callback};

	tcpip_api_call(setReceiverInTask, &record.call);
}

/** Opens a connection, takes one over (`from`), or makes a socket for a listener. A socket that is taken over loses nothing. */
void xs_tcp_constructor(xsMachine *the)
{
	if (xsmcArgc && xsmcHas(xsArg(0), xsID_from)) {
		xsmcGet(xsResult, xsArg(0), xsID_from);
		setReceiver(xsmcGetHostDataValidate(xsResult, (void *)&xsTCPHooks), refuse);
		xsmcSetUndefined(xsResult);
	}
	sdk_tcp_constructor(the);
	setReceiver(xsmcGetHostData(xsThis), receive);
}

/** Gives its argument, a socket, the next connection of a listener. */
void xs_listener_read(xsMachine *the)
{
	sdk_listener_read(the);
	setReceiver(xsmcGetHostDataValidate(xsArg(0), (void *)&xsTCPHooks), receive);
}

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

/** Removes the first buffer from the list, once all of it has been read. */
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
