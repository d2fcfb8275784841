import { WebSocket } from "ws";
import type { Connection, Open, Tell } from "./connections.js";
import { SEND_WINDOW, splitIntoParts } from "./connections.js";

const TEXT = 1;
const BINARY = 2;
const CLOSE = 8;
const PING = 9;
const PONG = 10;

/**
 * Opens WebSockets for the firmware.
 *
 * @param pageUrl of a page that shows the device, which its gateway's console links
 */
export const webSocketsOf =
	(pageUrl: string | undefined): Open =>
	([url, headers], tell): Connection => {
		const more = pageUrl === undefined ? [] : ([["Page-Url", pageUrl]] as const);
		const socket = connect(url as string, [...(headers as [string, string][]), ...more], tell);
		const parts: Uint8Array[] = [];
		return {
			write([opcode, more], bytes) {
				write(socket, opcode as number, more as boolean, bytes, tell);
				if (opcode === TEXT || opcode === BINARY) {
					parts.push(bytes);
					if (!more) {
						tell("message", [{ from: "device" }], Buffer.concat(parts.splice(0)));
					}
				}
			},
			pause: () => socket.pause(),
			resume: () => socket.resume(),
			close: () => socket.close(),
			destroy: () => socket.terminate(),
		};
	};

function connect(url: string, headers: readonly (readonly [string, string])[], tell: Tell): WebSocket {
	const socket = new WebSocket(url, {
		headers: Object.fromEntries(headers),
		perMessageDeflate: false,
		// The chip's client does not check this, so the firmware must handle it.
		skipUTF8Validation: true,
	});
	socket.on("open", () => tell("writable", [SEND_WINDOW]));
	socket.on("message", (data: Buffer, binary) => {
		tell("message", [{ from: "backend" }], data);
		for (const [part, more] of splitIntoParts(data)) {
			tell("data", [{ more, binary }], part);
		}
	});
	socket.on("ping", (data) => tell("control", [PING], data));
	socket.on("pong", (data) => tell("control", [PONG], data));
	socket.on("unexpected-response", (request, { statusCode = 0 }) => {
		tell("error", [
			describeStatus(
				statusCode,
				headers.some(([name]) => name.toLowerCase() === "authorization"),
			),
		]);
		request.destroy();
	});
	socket.on("error", (error: NodeJS.ErrnoException) => tell("error", [error.message || error.code]));
	socket.on("close", () => tell("closed"));
	return socket;
}

function write(socket: WebSocket, opcode: number, more: boolean, bytes: Uint8Array, tell: Tell): void {
	const written = (): void => tell("writable", [bytes.byteLength]);
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
