import { createServer, type IncomingMessage, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { TlsOptions } from "node:tls";
import { type WebSocket, WebSocketServer } from "ws";
import { decodeEnvelope, type Envelope } from "../../../src/protocols/envelope.js";
import { Device, type DeviceIdentity } from "../servers/device.js";
import type { DeviceHub } from "../servers/device-hub.js";
import type { AuthenticateDevice } from "./credentials.js";
import { answerHello } from "./hello.js";
import { receiveFromDevice } from "./messages.js";

export interface WebSocketDevicesOptions {
	/** Where to listen. Default: loopback. */
	readonly host?: string;
	/** 0 for a free one. */
	readonly port: number;
	/** Who is let in. Default: every device. */
	readonly authenticate?: AuthenticateDevice;
	/** Key and certificate: devices then connect by wss. */
	readonly tls?: TlsOptions;
	/** Milliseconds a device has for its hello. Default 10,000. */
	readonly helloTimeout?: number;
	/** Milliseconds between pings, which keep quiet sessions alive and find dead ones. Default 30,000. */
	readonly pingInterval?: number;
}

/** Bytes that a device's message may have. */
const MAX_MESSAGE_BYTES = 1024 * 1024;

/** RFC 6455 §7.4.1: the other side broke the protocol. */
const PROTOCOL_ERROR = 1002;

/** Accepts devices over WebSocket and puts them into the hub. */
export class WebSocketDevices {
	readonly #hub: DeviceHub;
	readonly #options: WebSocketDevicesOptions;
	readonly #http: Server;
	readonly #sockets: WebSocketServer;

	constructor(hub: DeviceHub, options: WebSocketDevicesOptions) {
		this.#hub = hub;
		this.#options = options;
		this.#sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false });
		this.#http = options.tls ? createTlsServer(options.tls) : createServer();
		this.#http.on("request", (_request, response) => response.writeHead(426).end("This is a WebSocket.\n"));
		this.#http.on("tlsClientError", (error: Error) => hub.refused(`TLS: ${error.message}`));
		this.#http.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head));
	}

	/** Starts to listen. Rejects when the port is taken. Resolves with the port. */
	listen(): Promise<number> {
		return new Promise((resolve, reject) => {
			this.#http.once("error", reject);
			this.#http.listen(this.#options.port, this.#options.host ?? "127.0.0.1", () => {
				this.#http.off("error", reject);
				this.#http.on("error", (error) => this.#hub.refused(`listening for devices: ${error.message}`));
				resolve((this.#http.address() as AddressInfo).port);
			});
		});
	}

	/** Stops listening and cuts every connection. */
	async close(): Promise<void> {
		for (const socket of this.#sockets.clients) {
			socket.terminate();
		}
		this.#sockets.close();
		const closed = new Promise((resolve) => this.#http.close(resolve));
		this.#http.closeAllConnections();
		await closed;
	}

	#upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
		socket.on("error", () => socket.destroy());
		const deviceId = header(request, "device-id");
		if (deviceId === "") {
			this.#refuse(socket, "400 Bad Request", `a device from ${request.socket.remoteAddress}: no Device-Id header`);
			return;
		}
		if (!this.#isAllowed(deviceId, header(request, "authorization"))) {
			this.#refuse(
				socket,
				"401 Unauthorized",
				`${deviceId} from ${request.socket.remoteAddress}: wrong or missing bearer token`,
			);
			return;
		}
		const identity = { deviceId, clientId: header(request, "client-id"), transport: "websocket" };
		this.#sockets.handleUpgrade(request, socket, head, (webSocket) => this.#greet(webSocket, identity));
	}

	#isAllowed(deviceId: string, authorization: string): boolean {
		const secret = /^Bearer (.+)$/i.exec(authorization)?.[1] ?? "";
		return this.#options.authenticate?.({ deviceId, secret }) ?? true;
	}

	#refuse(socket: Duplex, status: string, reason: string): void {
		this.#hub.refused(reason);
		socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
	}

	#greet(socket: WebSocket, identity: DeviceIdentity): void {
		const refuse = (reason: string): void => {
			this.#hub.refused(`${identity.deviceId}: ${reason}`);
			socket.close(PROTOCOL_ERROR, reason.slice(0, 120));
		};
		const { helloTimeout = 10_000 } = this.#options;
		const timer = setTimeout(() => refuse(`no hello within ${helloTimeout} ms`), helloTimeout);
		socket.on("close", () => clearTimeout(timer));
		socket.on("error", (error) => this.#hub.refused(`${identity.deviceId}: ${error.message}`));
		socket.once("message", (data: Buffer) => {
			clearTimeout(timer);
			try {
				const { sessionId, answer } = answerHello(decodeEnvelope(data.toString()), "websocket");
				socket.send(JSON.stringify(answer));
				this.#begin(socket, identity, sessionId);
			} catch (error) {
				refuse((error as Error).message);
			}
		});
	}

	#begin(socket: WebSocket, identity: DeviceIdentity, sessionId: string): void {
		const device = new Device({
			identity,
			sessionId,
			send: (message) => socket.send(JSON.stringify(message)),
			close: () => socket.close(),
		});
		this.#watch(socket);
		socket.on("message", (data: Buffer, binary) => {
			if (!binary) {
				this.#receive(device, data.toString());
			}
		});
		socket.on("close", () => device.ended("the device closed the connection"));
		device.once("closed", () => socket.close());
		this.#hub.add(device);
	}

	#receive(device: Device, text: string): void {
		let envelope: Envelope;
		try {
			envelope = decodeEnvelope(text);
		} catch (error) {
			this.#hub.refused(`${device.identity.deviceId}: message dropped: ${(error as Error).message}`);
			return;
		}
		receiveFromDevice(this.#hub, device, envelope);
	}

	/** A device that has not answered a ping when the next is due is gone. */
	#watch(socket: WebSocket): void {
		let alive = true;
		socket.on("pong", () => {
			alive = true;
		});
		const timer = setInterval(() => {
			if (!alive) {
				socket.terminate();
				return;
			}
			alive = false;
			socket.ping();
		}, this.#options.pingInterval ?? 30_000);
		socket.on("close", () => clearInterval(timer));
	}
}

function header(request: IncomingMessage, name: string): string {
	const value = request.headers[name];
	return typeof value === "string" ? value : "";
}
