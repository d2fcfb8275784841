import { WebSocket } from "ws";
import { SEND_WINDOW, splitIntoParts } from "./parts.js";
import type { Deliver, Service } from "./service.js";

const TEXT = 1;
const BINARY = 2;
const CLOSE = 8;
const PING = 9;
const PONG = 10;

/** Opens WebSockets for the firmware. */
export class WebSockets implements Service {
	readonly prefix = "ws";
	readonly #deliver: Deliver;
	readonly #sockets = new Map<number, WebSocket>();

	constructor(deliver: Deliver) {
		this.#deliver = deliver;
	}

	take(kind: string, args: readonly unknown[], bytes: Uint8Array = new Uint8Array(0)): void {
		const id = args[0] as number;
		const socket = this.#sockets.get(id);
		switch (kind) {
			case "open":
				try {
					this.#open(id, args[1] as string, args[2] as [string, string][]);
				} catch (error) {
					// Node does not send every header that a chip sends.
					this.#deliver({ header: ["ws.error", id, (error as Error).message] });
				}
				break;
			case "write":
				if (socket !== undefined) {
					this.#write(id, socket, args[1] as number, args[2] as boolean, bytes);
				}
				break;
			case "pause":
				socket?.pause();
				break;
			case "resume":
				socket?.resume();
				break;
			case "close":
				this.#sockets.delete(id);
				socket?.close();
				break;
		}
	}

	close(): void {
		for (const socket of this.#sockets.values()) {
			socket.terminate();
		}
		this.#sockets.clear();
	}

	#open(id: number, url: string, headers: readonly (readonly [string, string])[]): void {
		const socket = new WebSocket(url, {
			headers: Object.fromEntries(headers),
			perMessageDeflate: false,
			// The chip's client does not check this, so the firmware must handle it.
			skipUTF8Validation: true,
		});
		this.#sockets.set(id, socket);
		const tell = (header: readonly unknown[], bytes?: Uint8Array): void => {
			if (this.#sockets.get(id) === socket) {
				this.#deliver({ header, ...(bytes && { bytes }) });
			}
		};
		const end = (header: readonly unknown[]): void => {
			tell(header);
			this.#sockets.delete(id);
		};
		socket.on("open", () => tell(["ws.writable", id, SEND_WINDOW]));
		socket.on("message", (data: Buffer, binary) => {
			for (const [part, more] of splitIntoParts(data)) {
				tell(["ws.data", id, { more, binary }], part);
			}
		});
		socket.on("ping", (data) => tell(["ws.control", id, PING], data));
		socket.on("pong", (data) => tell(["ws.control", id, PONG], data));
		socket.on("unexpected-response", (request, { statusCode = 0 }) => {
			end(["ws.error", id, describeStatus(statusCode, headers.some(isAuthorization))]);
			request.destroy();
		});
		socket.on("error", (error: NodeJS.ErrnoException) => end(["ws.error", id, error.message || error.code]));
		socket.on("close", () => end(["ws.closed", id]));
	}

	#write(id: number, socket: WebSocket, opcode: number, more: boolean, bytes: Uint8Array): void {
		const written = (): void => {
			if (this.#sockets.get(id) === socket) {
				this.#deliver({ header: ["ws.writable", id, bytes.byteLength] });
			}
		};
		if (opcode === TEXT || opcode === BINARY) {
			socket.send(bytes, { binary: opcode === BINARY, fin: !more }, written);
		} else if (opcode === PING) {
			socket.ping(bytes, undefined, written);
		} else if (opcode === PONG) {
			socket.pong(bytes, undefined, written);
		} else if (opcode === CLOSE) {
			socket.close();
		}
	}
}

/** The error for a handshake that was answered with this HTTP status. */
function describeStatus(status: number, hasToken: boolean): string {
	if (status === 401) {
		return hasToken ? "token rejected (401)" : "the backend requires a token (401)";
	}
	if (status < 400 || status === 404) {
		return `no WebSocket at this URL (HTTP status ${status})`;
	}
	return `the backend answered with HTTP status ${status}`;
}

function isAuthorization([name]: readonly [string, string]): boolean {
	return name.toLowerCase() === "authorization";
}
