// What lwIP's task does for the machine's, for esp32-tcp.c. It is in no callback of a connection meanwhile.

/** What the machine's task asks for. It waits until that is done. */
typedef struct {
	struct tcpip_api_call_data call;
	Connection *skt;		// where a socket has its connection: NULL once it is gone
	TCP tcp;
	Listener listener;
	const void *data;
	struct pbuf *pb;
	ip_addr_t address;
	u16_t count;			// bytes, or a port
	u8_t flags;
} Request;

typedef struct tcpip_api_call_data Call;

static err_t writing(Call *call)
{
	Request *it = (Request *)call;

	return *it->skt ? tcp_write(*it->skt, it->data, it->count, it->flags) : ERR_CONN;
}

static err_t writeInTask(Connection *skt, const void *data, u16_t count, u8_t flags)
{
	Request it = {.skt = skt, .data = data, .count = count, .flags = flags};

	return tcpip_api_call(writing, &it.call);
}

static err_t sending(Call *call)
{
	Request *it = (Request *)call;

	return *it->skt ? tcp_output(*it->skt) : ERR_CONN;
}

static void outputInTask(Connection *skt)
{
	Request it = {.skt = skt};

	tcpip_api_call(sending, &it.call);
}

/** Bytes that a connection takes now. One that is gone takes any: its socket learns of that by an error. */
static u16_t sendBuffer(Connection *skt)
{
	Connection it = *(Connection volatile *)skt;

	if (PARKED == it)
		it = onTheWay;
	return it ? it->snd_buf : TCP_SND_BUF;
}

static err_t closing(Call *call)
{
	Request *it = (Request *)call;
	Connection skt = *it->skt;

	*it->skt = NULL;
	if (PARKED == skt) {
		skt = onTheWay;
		onTheWay = NULL;
	}
	if (NULL == skt)
		return ERR_OK;
	if (LISTEN != skt->state) {
		tcp_arg(skt, NULL);
		tcp_err(skt, NULL);
		tcp_recv(skt, NULL);
		tcp_sent(skt, NULL);
	}
	return tcp_close(skt);
}

static void closeInTask(Connection *skt)
{
	Request it = {.skt = skt};

	tcpip_api_call(closing, &it.call);
}

/** Leaves what a peer has sent to lwIP, which offers it again. */
static err_t refuse(void *arg, Connection skt, struct pbuf *pb, err_t err)
{
	return ERR_MEM;
}

static void lose(void *arg, err_t err)
{
	*(Connection *)arg = NULL;
}

/** Keeps a connection that has no socket: its peer may reset it. Runs in lwIP's task. */
static void park(Connection *skt)
{
	tcp_arg(*skt, skt);
	tcp_err(*skt, lose);
	tcp_recv(*skt, refuse);
	tcp_sent(*skt, NULL);
}
