import type { IncomingMessage, RequestListener } from "node:http";
import type { Duplex } from "node:stream";
import { localhostAllowedOrigins, validateOriginHeader } from "@modelcontextprotocol/server";
import { WebSocket, WebSocketServer } from "ws";
import { readFrame, writeFrame } from "xs-mcp-firmware/features/voice/audio-frames";
import { AudioLink, type ServerIdentity, type ServerRegistry } from "xs-mcp-manager/core";
import { closeServer, createHttpServer, listenOn, watchLiveness } from "../http/listener.js";
import { type Admission, admitAll, type DeviceListenerOptions, introductionOf, serverUrlOf } from "./admission.js";
import { DeviceConnection, type DeviceHello, GATEWAY_HELLO, parseMessage, readHello } from "./device-connection.js";

/** Milliseconds that a device has for its hello. */
const HELLO_TIMEOUT = 10_000;

/** Bytes that a device's message may have. */
const MAX_MESSAGE_BYTES = 1024 * 1024;

/** Most bytes that may wait to be sent to a device. Beyond that it is disconnected. */
const MAX_UNSENT_BYTES = 1024 * 1024;

/** RFC 6455 §7.4.1: protocol error. */
const PROTOCOL_ERROR = 1002;

/** Characters of a reason for closing: RFC 6455 §5.5 allows 123 bytes. */
const MAX_REASON = 120;

/** Accepts devices over WebSocket. Rejects if the port is in use. */
export async function listenForWebSocket(servers: ServerRegistry, options: DeviceListenerOptions) {
	const { host = "127.0.0.1", port, tls, authenticate = admitAll, onRequest = rejectRequest } = options;
	const origins = [...localhostAllowedOrigins(), ...(options.allowedOrigins ?? [])];
	const admissions = new WeakMap<WebSocket, Admission>();
	const sockets = new WebSocketServer({
		noServer: true,
		maxPayload: MAX_MESSAGE_BYTES,
		perMessageDeflate: false,
	});

	const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
		socket.on("error", () => socket.destroy());
		const { remoteAddress } = request.socket;
		const { deviceId, clientId, secret, isPage, frameVersion, pageUrl } = introductionOf(request);
		if (deviceId === "") {
			reject(socket, "400 Bad Request", `a device from ${remoteAddress}: no Device-Id header`);
			return;
		}
		if (isPage && !validateOriginHeader(request.headers.origin, origins).ok) {
			const problem = "a page of a website that is not allowed (allowedOrigins)";
			reject(socket, "403 Forbidden", `${deviceId} from ${remoteAddress}: ${problem} (403)`);
			return;
		}
		const admission = authenticate({ deviceId, secret });
		if (typeof admission === "string") {
			reject(socket, "401 Unauthorized", `${deviceId} from ${remoteAddress}: ${admission} (401)`);
			return;
		}
		const gatewayUrl = serverUrlOf(request);
		const identity = { id: deviceId, clientId, transport: "websocket", gatewayUrl, pageUrl, ...admission };
		sockets.handleUpgrade(request, socket, head, (webSocket) => {
			admissions.set(webSocket, admission);
			awaitHello(webSocket, identity, frameVersion);
		});
	};

	const reject = (socket: Duplex, status: string, reason: string): void => {
		servers.reject(reason);
		socket.once("finish", () => socket.destroy());
		socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
	};

	const awaitHello = (socket: WebSocket, identity: ServerIdentity, frameVersion: number): void => {
		const rejectHello = (reason: string): void => {
			servers.reject(`${identity.id}: ${reason}`);
			socket.close(PROTOCOL_ERROR, reason.slice(0, MAX_REASON));
		};
		const timer = setTimeout(() => rejectHello(`no hello within ${HELLO_TIMEOUT} ms`), HELLO_TIMEOUT);
		socket.on("close", () => clearTimeout(timer));
		socket.on("error", (error) => servers.reject(`${identity.id}: ${error.message}`));
		const receiveHello = (data: Buffer, isBinary: boolean): void => {
			if (isBinary) {
				return;
			}
			socket.off("message", receiveHello);
			clearTimeout(timer);
			try {
				openSession(socket, identity, readHello(parseMessage(data.toString()), options.fonts), frameVersion);
			} catch (error) {
				rejectHello((error as Error).message);
			}
		};
		socket.on("message", receiveHello);
	};

	const openSession = (socket: WebSocket, identity: ServerIdentity, hello: DeviceHello, frameVersion: number): void => {
		const write = (message: string | Uint8Array): void => {
			if (socket.readyState === WebSocket.OPEN) {
				socket.send(message);
			}
			if (socket.bufferedAmount > MAX_UNSENT_BYTES) {
				socket.terminate();
				connection.ended("the device does not read its messages");
			}
		};
		const audio = hello.playsOpus
			? new AudioLink(
					(packet) => write(writeFrame(packet, frameVersion, Math.round(performance.now()))),
					(reason) => connection.reject(`audio dropped: ${reason}`),
					hello.listensOnRequest,
				)
			: undefined;
		const connection = new DeviceConnection(identity, hello, { write, disconnect: () => socket.close(), audio });
		const receive = (data: Buffer, isBinary: boolean): void => {
			if (isBinary) {
				audio?.receive(() => readFrame(data, frameVersion));
			} else {
				connection.receive(data.toString());
			}
		};
		// One read of the socket may emit several messages. Each gets its own immediate: see DeviceConnection.
		socket.on("message", (data: Buffer, isBinary) => setImmediate(receive, data, isBinary));
		socket.on("close", () => setImmediate(() => connection.ended("the device closed the connection")));
		socket.send(JSON.stringify({ ...GATEWAY_HELLO, session_id: connection.sessionId, transport: "websocket" }));
		watchLiveness(socket, options.pingInterval);
		servers.connect(connection);
	};

	const onError = ({ message }: Error): void => servers.reject(`HTTP: ${message}`);
	const http = createHttpServer(onError, { tls })
		.on("request", onRequest)
		.on("tlsClientError", ({ message }: Error) => servers.reject(`TLS: ${message}`))
		.on("upgrade", upgrade);
	const onFailure = ({ message }: Error): void => servers.reject(`listening for devices: ${message}`);
	return {
		port: await listenOn(http, { host, port }, onFailure),
		server: http,
		/** Disconnects the devices that would no longer be admitted, whether or not they have said hello. */
		recheck(stillAdmits: (admission: Admission) => boolean): void {
			for (const socket of sockets.clients) {
				if (!stillAdmits(admissions.get(socket) ?? {})) {
					socket.close(PROTOCOL_ERROR, "the token is no longer valid");
				}
			}
		},
		/** Stops listening and cuts every connection. */
		async close(): Promise<void> {
			for (const socket of sockets.clients) {
				socket.terminate();
			}
			sockets.close();
			await closeServer(http);
		},
	};
}

const rejectRequest: RequestListener = (_request, response) =>
	response.writeHead(426).end("Upgrade required: this port speaks WebSocket only\n");
