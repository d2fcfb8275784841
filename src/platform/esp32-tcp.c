// The SDK's TCP sockets and listeners, for src/platform/esp32-tcp.ts and the SDK's listener.js. lwIP's task runs beside the
// machine's, on another core if there are two, and frees a connection when its peer resets it. The SDK changes connections and lists
// of them in both tasks, and goes on to use connections that are gone (docs/sdk.md).
// Here only lwIP's task touches a connection, and it says when it is gone. All else is the SDK's own file.

#include "lwip/tcp.h"
#include "lwip/priv/tcp_priv.h"
#include "lwip/priv/tcpip_priv.h"
#include "modLwipSafe.h"

/** So many connections wait for their listener. */
#define MAX_PENDING 8

typedef struct tcp_pcb *Connection;

/** The connection that one socket takes over from another: NULL once it is gone. Meanwhile both have PARKED. */
static Connection onTheWay;
#define PARKED ((Connection)&onTheWay)

struct TCPRecord;
struct ListenerRecord;

static err_t accept(void *arg, Connection skt, err_t err);
static err_t connectInTask(struct TCPRecord *tcp, const ip_addr_t *address, u16_t port);
static u16_t sendBuffer(Connection *skt);
static err_t writeInTask(Connection *skt, const void *data, u16_t count, u8_t flags);
static void outputInTask(Connection *skt);
static void closeInTask(Connection *skt);

// A connection gets its callbacks from the functions below, and keeps them until it is closed or gone.
#define tcp_arg(skt, arg) _Generic((arg), struct ListenerRecord *: (tcp_arg)(skt, arg), struct TCPRecord *: (void)0)
#define tcp_err(skt, callback)
#define tcp_recv(skt, callback)
#define tcp_sent(skt, callback)
#define tcp_accept(skt, callback) (tcp_accept)(skt, (callback) == listenerAccept ? accept : NULL)
#define tcp_connect_safe(skt, address, port, callback) connectInTask(tcp, address, port)
#undef tcp_sndbuf
#define tcp_sndbuf(skt) sendBuffer(&(skt))
#define tcp_write_safe(skt, data, count, flags) writeInTask(&(skt), data, count, flags)
#define tcp_output_safe(skt) outputInTask(&(skt))
#define tcp_close_safe(skt) closeInTask(&(skt))

#define xs_tcp_constructor sdk_tcp_constructor
#define xs_tcp_close sdk_tcp_close
#define xs_tcp_read sdk_tcp_read
#define xs_tcp_get_remoteAddress sdk_tcp_get_remoteAddress
#define xs_tcp_get_remotePort sdk_tcp_get_remotePort
#define xs_listener_read sdk_listener_read
#include "../../modules/io/socket/lwip/tcp.c"	// as seen from the SDK's xs/includes, which is in the include path
#undef xs_tcp_constructor
#undef xs_tcp_close
#undef xs_tcp_read
#undef xs_tcp_get_remoteAddress
#undef xs_tcp_get_remotePort
#undef xs_listener_read
#undef tcp_arg
#undef tcp_err
#undef tcp_recv
#undef tcp_sent
#undef tcp_accept

#include "lwip-task.h"

/** Receives data of a peer. Runs in lwIP's task. */
static err_t receive(void *arg, Connection skt, struct pbuf *pb, err_t err)
{
	TCP tcp = arg;
	TCPBuffer buffer, *end;

	if ((NULL == pb) || (ERR_OK != err))
		return tcpReceive(arg, skt, pb, err);		// the peer sends no more: it does not touch the list

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

/** Attaches a connection to its socket, which gets the events that came before. Runs in lwIP's task. */
static void attach(TCP tcp)
{
	Connection skt = tcp->skt;

	if (NULL == skt) {
		tcpTrigger(tcp, kTCPError);
		return;
	}
	tcp_arg(skt, tcp);
	tcp_err(skt, tcpError);
	tcp_recv(skt, receive);
	tcp_sent(skt, (tcp->triggerable & kTCPWritable) ? tcpSent : NULL);
	if (skt->refused_data)
		tcp_process_refused_data(skt);
	else if (CLOSE_WAIT == skt->state)
		tcpReceive(tcp, skt, NULL, ERR_OK);
}

static err_t connecting(Call *call)
{
	Request *it = (Request *)call;

	attach(it->tcp);
	if (ERR_OK != tcp_connect(it->tcp->skt, &it->address, it->count, tcpConnect))
		tcpTrigger(it->tcp, kTCPError);
	return ERR_OK;
}

/** Begins to connect. If that fails, the socket has an error, as if it failed later. */
static err_t connectInTask(TCP tcp, const ip_addr_t *address, u16_t port)
{
	Request it = {.tcp = tcp, .address = *address, .count = port};

	return tcpip_api_call(connecting, &it.call);
}

static err_t detaching(Call *call)
{
	Connection *skt = ((Request *)call)->skt;

	onTheWay = *skt;
	*skt = PARKED;
	if (onTheWay)
		park(&onTheWay);
	return ERR_OK;
}

static err_t attaching(Call *call)
{
	TCP tcp = ((Request *)call)->tcp;

	tcp->skt = onTheWay;
	onTheWay = NULL;
	attach(tcp);
	return ERR_OK;
}

/** Opens a connection, takes one over (`from`), or makes a socket for a listener. A connection that is taken over loses nothing. */
void xs_tcp_constructor(xsMachine *the)
{
	uint8_t takesOver = xsmcArgc && xsmcHas(xsArg(0), xsID_from);
	Request it = {0};

	if (takesOver) {
		xsmcGet(xsResult, xsArg(0), xsID_from);
		it.skt = &((TCP)xsmcGetHostDataValidate(xsResult, (void *)&xsTCPHooks))->skt;
		tcpip_api_call(detaching, &it.call);
		xsmcSetUndefined(xsResult);
	}
	sdk_tcp_constructor(the);
	if (takesOver) {
		it.tcp = xsmcGetHostData(xsThis);
		tcpip_api_call(attaching, &it.call);
	}
}

void xs_tcp_close(xsMachine *the)
{
	TCP tcp = xsmcGetHostData(xsThis);

	if (tcp && xsmcGetHostDataValidate(xsThis, (void *)&xsTCPHooks))
		closeInTask(&tcp->skt);		// before the SDK, so that no callback finds a socket that is free
	sdk_tcp_close(the);
}

static err_t naming(Call *call)
{
	Request *it = (Request *)call;

	if (NULL == *it->skt)
		return ERR_CONN;
	it->address = (*it->skt)->remote_ip;
	it->count = (*it->skt)->remote_port;
	return ERR_OK;
}

/** The peer's address; undefined if the connection is gone. */
void xs_tcp_get_remoteAddress(xsMachine *the)
{
	Request it = {.skt = &((TCP)xsmcGetHostDataValidate(xsThis, (void *)&xsTCPHooks))->skt};
	char text[IPADDR_STRLEN_MAX];

	if (ERR_OK == tcpip_api_call(naming, &it.call))
		xsmcSetString(xsResult, ipaddr_ntoa_r(&it.address, text, sizeof(text)));
}

/** The peer's port; undefined if the connection is gone. */
void xs_tcp_get_remotePort(xsMachine *the)
{
	Request it = {.skt = &((TCP)xsmcGetHostDataValidate(xsThis, (void *)&xsTCPHooks))->skt};

	if (ERR_OK == tcpip_api_call(naming, &it.call))
		xsmcSetInteger(xsResult, it.count);
}

/** Keeps a connection that a peer has opened for its listener. Runs in lwIP's task. */
static err_t accept(void *arg, Connection skt, err_t err)
{
	Listener listener = arg;
	ListenerPending pending, *end;
	int count = 0;

	for (end = &listener->pending; (NULL != *end) && (NULL != (*end)->skt); end = &(*end)->next)
		count += 1;
	if ((NULL == skt) || (count >= MAX_PENDING))
		return ERR_MEM;		// lwIP resets it

#ifdef mxDebug
	if (fxInNetworkDebugLoop(listener->the))
		return ERR_MEM;
#endif

	pending = *end;		// the place of one that is gone
	if (NULL == pending) {
		pending = c_calloc(1, sizeof(ListenerPendingRecord));
		if (NULL == pending)
			return ERR_MEM;
		builtinCriticalSectionBegin();
		*end = pending;
		builtinCriticalSectionEnd();
	}
	pending->skt = skt;
	park(&pending->skt);
	listenerTrigger(listener, kListenerReadable);
	return ERR_OK;
}

static err_t taking(Call *call)
{
	Request *it = (Request *)call;
	ListenerPending pending;

	while ((NULL == it->tcp->skt) && (NULL != (pending = it->listener->pending))) {
		it->listener->pending = pending->next;
		it->tcp->skt = pending->skt;
		c_free(pending);
	}
	if (NULL == it->tcp->skt)
		return ERR_CONN;
	attach(it->tcp);
	return ERR_OK;
}

/** Attaches the next connection of a listener to its argument, a socket. If none is left, closes the socket and returns undefined. */
void xs_listener_read(xsMachine *the)
{
	Request it = {
		.listener = xsmcGetHostDataValidate(xsThis, (void *)&xsListenerHooks),
		.tcp = xsmcGetHostDataValidate(xsArg(0), (void *)&xsTCPHooks),
	};

	it.tcp->ready = true;
	if (ERR_OK == tcpip_api_call(taking, &it.call))
		xsResult = xsArg(0);
	else
		doClose(the, &xsArg(0));
}

static err_t releasing(Call *call)
{
	Request *it = (Request *)call;

	if (*it->skt)
		tcp_recved(*it->skt, it->pb->tot_len);
	pbuf_free(it->pb);
	return ERR_OK;
}

/** Removes the first buffer from the list, once all of it has been read. */
static void removeFirst(TCP tcp)
{
	TCPBuffer buffer = tcp->buffers;
	Request it = {.skt = &tcp->skt, .pb = buffer->pb};

	builtinCriticalSectionBegin();
	tcp->buffers = buffer->next;
	builtinCriticalSectionEnd();

	tcpip_api_call(releasing, &it.call);
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
