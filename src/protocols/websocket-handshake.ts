import { toBase64 } from "../core/text/base64.js";

/** The request of a client: https://www.rfc-editor.org/rfc/rfc6455#section-4.1 */
export interface HandshakeRequest {
	readonly host: string;
	readonly port: number;
	readonly path: string;
	readonly headers: Map<string, string>;
}

/** The longest head of a response, in bytes. */
const MAX_RESPONSE_HEAD = 4096;

/** Bytes of the nonce in a request. */
const KEY_BYTES = 16;

const LINE_END = 10;

/** The upgrade request. @param random a number in [0, 1) */
export const handshakeRequest = (
	{ host, port, path, headers }: HandshakeRequest,
	random: () => number = Math.random,
): Uint8Array => {
	const key = Uint8Array.from({ length: KEY_BYTES }, () => random() * 256);
	const lines = [
		`GET ${path} HTTP/1.1`,
		`Host: ${port === 80 || port === 443 ? host : `${host}:${port}`}`,
		"Upgrade: websocket",
		"Connection: Upgrade",
		"Sec-WebSocket-Version: 13",
		`Sec-WebSocket-Key: ${toBase64(key.buffer)}`,
	];
	for (const [name, value] of headers) {
		lines.push(`${name}: ${value}`);
	}
	return new Uint8Array(ArrayBuffer.fromString(`${lines.join("\r\n")}\r\n\r\n`));
};

/** Reads the head of the server's response, byte by byte. */
export class HandshakeResponse {
	private line = "";
	private bytes = 0;
	private isFirst = true;
	/** Required headers that have not arrived yet. */
	private readonly missing = new Set(["upgrade", "connection", "sec-websocket-accept"]);

	/**
	 * Takes the next byte.
	 *
	 * @returns whether that was the last
	 * @throws Error with the reason why the upgrade failed
	 */
	push(byte: number): boolean {
		this.bytes += 1;
		if (this.bytes > MAX_RESPONSE_HEAD) {
			throw new Error(`the server's response has more than ${MAX_RESPONSE_HEAD} bytes of headers`);
		}
		if (byte !== LINE_END) {
			this.line += String.fromCharCode(byte);
			return false;
		}
		const line = this.line.trim();
		this.line = "";
		if (this.isFirst) {
			this.isFirst = false;
			const [version, status] = line.split(" ");
			if (!version?.startsWith("HTTP/1.")) {
				throw new Error("the server does not speak HTTP");
			}
			if (status !== "101") {
				throw new Error(`the server answered ${status}, expected 101`);
			}
		} else if (line !== "") {
			this.takeHeader(line);
		} else if (this.missing.size > 0) {
			throw new Error(`the server's response lacks ${[...this.missing].join(", ")}`);
		} else {
			return true;
		}
		return false;
	}

	/** The value of Sec-WebSocket-Accept is not checked: that takes SHA-1, and authenticates nothing. */
	private takeHeader(line: string): void {
		const [name = "", value = ""] = line.toLowerCase().split(":", 2);
		const tokens = value.split(",").map((token) => token.trim());
		if (
			name === "sec-websocket-accept" ||
			(name === "upgrade" && tokens.includes("websocket")) ||
			(name === "connection" && tokens.includes("upgrade"))
		) {
			this.missing.delete(name);
		}
	}
}
