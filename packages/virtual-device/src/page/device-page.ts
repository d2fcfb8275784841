import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import { contentTypeOf, pagePolicy } from "../../../gateway/src/http/page-headers.js";
import { readAction } from "../actions.js";
import { readMembers } from "../fields.js";
import type { VirtualDevice } from "../virtual-device.js";
import { DeviceView } from "./device-view.js";
import { type Failure, type FromPage, MICROPHONE } from "./page-messages.js";

/** Largest message of a page: a photo. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

const LOOPBACK = "127.0.0.1";

const HEADERS = {
	"Content-Security-Policy": pagePolicy("data: blob:", "blob:"),
	"Cache-Control": "no-cache",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Referrer-Policy": "no-referrer",
	"X-Content-Type-Options": "nosniff",
};

/** The first bytes of a JPEG file. */
const JPEG = [0xff, 0xd8, 0xff];

/** A virtual device's page, which this machine's browsers can open: a server of the page, and of a WebSocket for each. */
export class DevicePage {
	readonly #device: VirtualDevice;
	readonly #view: DeviceView;
	readonly #server: Server;
	/** The page whose microphone the device hears: the first one that has switched it on. */
	#recording: WebSocket | undefined;
	readonly #sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES });

	private constructor(device: VirtualDevice, folder: string, consoleUrl?: string) {
		this.#device = device;
		const send = serveFiles(folder);
		this.#view = new DeviceView(device, consoleUrl);
		this.#server = createServer((request, response) => {
			if (this.#isHere(request)) {
				send(request, response);
			} else {
				reject(response, 403, "not a name of this page");
			}
		});
		this.#server.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head));
	}

	/**
	 * Serves the page of a device on the loopback address.
	 *
	 * @param folder of the page's bundle
	 * @param port 0: any free one
	 * @param consoleUrl of its gateway, for a link
	 * @throws Error if the port is taken
	 */
	static async open(device: VirtualDevice, folder: string, port: number, consoleUrl?: string): Promise<DevicePage> {
		const page = new DevicePage(device, folder, consoleUrl);
		await once(page.#server.listen(port, LOOPBACK), "listening");
		device.pageUrl = page.url;
		return page;
	}

	get url(): string {
		return `http://${LOOPBACK}:${this.#port}/`;
	}

	close(): void {
		this.#view.close();
		for (const socket of this.#sockets.clients) {
			socket.terminate();
		}
		this.#server.close();
		this.#server.closeAllConnections();
	}

	get #port(): number {
		return (this.#server.address() as AddressInfo).port;
	}

	/** Whether a request names this page, and not a site whose name leads to this machine (DNS rebinding). */
	#isHere({ headers: { host } }: IncomingMessage): boolean {
		return [LOOPBACK, "localhost", "[::1]"].some((name) => host === `${name}:${this.#port}`);
	}

	/** Only the page itself may open a WebSocket: browsers let every site try. */
	#upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
		const { host, origin } = request.headers;
		if (!this.#isHere(request) || origin !== `http://${host}`) {
			socket.end("HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n");
			return;
		}
		this.#sockets.handleUpgrade(request, socket, head, (page) => {
			page.on("message", (data, isBinary) => void this.#handleMessage(page, data, isBinary));
			page.on("error", () => page.terminate());
			page.on("close", () => this.#listenTo(page, undefined));
			this.#view.add(page);
		});
	}

	/** @param samples undefined: the page's microphone is off */
	#listenTo(page: WebSocket, samples: Int16Array | undefined): void {
		if (samples !== undefined) {
			this.#recording ??= page;
		}
		if (this.#recording === page) {
			this.#device.hearLive(samples);
			this.#recording = samples && page;
		}
	}

	async #handleMessage(page: WebSocket, data: RawData, isBinary: boolean): Promise<void> {
		try {
			if (isBinary && isRecorded(data as Buffer)) {
				this.#listenTo(page, readSamples(data as Buffer));
			} else if (isBinary) {
				this.#device.photo = readJpeg(data as Buffer);
			} else {
				const { action, value } = readMessage(String(data));
				await readAction(action, value, [action])(this.#device);
			}
		} catch (error) {
			const failure: Failure = { type: "failure", message: (error as Error).message };
			page.send(JSON.stringify(failure));
		}
	}
}

function isRecorded(bytes: Buffer): boolean {
	return MICROPHONE.every((byte, at) => bytes[at] === byte);
}

/** @returns undefined if the person has switched the microphone off */
function readSamples(bytes: Buffer): Int16Array | undefined {
	const samples = Uint8Array.from(bytes.subarray(MICROPHONE.length));
	return samples.byteLength < 2 ? undefined : new Int16Array(samples.buffer, 0, samples.byteLength >> 1);
}

/** @throws Error if it is not JSON, FieldError if it is something else than a message of the page */
function readMessage(text: string): FromPage {
	const { action, value } = readMembers(JSON.parse(text), [], ["action", "value"]);
	return { action: String(action), value };
}

/** @throws Error if it is another kind of picture */
function readJpeg(bytes: Buffer): Buffer {
	if (!JPEG.every((byte, at) => bytes[at] === byte)) {
		throw new Error("photo: not a JPEG file");
	}
	return bytes;
}

/** Serves the files of a folder, in memory: answers a request by its path; "/" is the page. */
function serveFiles(folder: string): (request: IncomingMessage, response: ServerResponse) => void {
	const files = new Map(readdirSync(folder).map((name) => [`/${name}`, readFileSync(join(folder, name))]));
	return ({ method, url = "/" }, response) => {
		const path = url === "/" ? "/index.html" : url;
		const body = files.get(path);
		if (body === undefined) {
			reject(response, 404, "not found");
		} else if (method !== "GET" && method !== "HEAD") {
			response.setHeader("Allow", "GET, HEAD");
			reject(response, 405, "method not allowed");
		} else {
			const headers = { "Content-Type": contentTypeOf(path), "Content-Length": body.byteLength };
			response.writeHead(200, { ...HEADERS, ...headers });
			response.end(method === "HEAD" ? undefined : body);
		}
	};
}

/** Answers a request with an error, as text. */
function reject(response: ServerResponse, status: number, reason: string): void {
	response.writeHead(status, { ...HEADERS, "Content-Type": "text/plain; charset=utf-8" });
	response.end(`${reason}\n`);
}
