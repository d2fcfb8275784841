import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import { contentTypeOf, pagePolicy } from "xs-mcp-gateway/page-headers";
import { readAction, readMembers } from "./actions.js";
import { showDevice } from "./device-view.js";
import { type Failure, type FromPage, MICROPHONE } from "./page-messages.js";
import type { VirtualDevice } from "./virtual-device.js";

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

/** A virtual device's page. */
export type DevicePage = Awaited<ReturnType<typeof openDevicePage>>;

/**
 * Serves the page of a device on the loopback address, to this machine's browsers: the page, and a WebSocket for each. Rejects if the
 * port is taken.
 *
 * @param folder of the page's bundle
 * @param port 0: any free one
 * @param consoleUrl of its gateway, for a link
 */
export async function openDevicePage(device: VirtualDevice, folder: string, port: number, consoleUrl?: string) {
	const view = showDevice(device, consoleUrl);
	const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES });
	const send = serveFiles(folder);
	/** The page whose microphone the device hears: the first one that has switched it on. */
	let recording: WebSocket | undefined;

	/** @param samples undefined: the page's microphone is off */
	const listenTo = (page: WebSocket, samples: Int16Array | undefined): void => {
		if (samples !== undefined) {
			recording ??= page;
		}
		if (recording === page) {
			device.hearLive(samples);
			recording = samples && page;
		}
	};
	const handleMessage = async (page: WebSocket, data: RawData, isBinary: boolean): Promise<void> => {
		try {
			if (isBinary && isRecorded(data as Buffer)) {
				listenTo(page, readSamples(data as Buffer));
			} else if (isBinary) {
				device.photo = readJpeg(data as Buffer);
			} else {
				const { action, value } = readMessage(String(data));
				await readAction(action, value, [action])(device);
			}
		} catch (error) {
			const failure: Failure = { type: "failure", message: (error as Error).message };
			page.send(JSON.stringify(failure));
		}
	};

	const server = createServer((request, response) => {
		if (isHere(request)) {
			send(request, response);
		} else {
			reject(response, 403, "not a name of this page");
		}
	});
	const actualPort = (): number => (server.address() as AddressInfo).port;
	/** Whether a request names this page, and not a site whose name leads to this machine (DNS rebinding). */
	const isHere = ({ headers: { host } }: IncomingMessage): boolean =>
		[LOOPBACK, "localhost", "[::1]"].some((name) => host === `${name}:${actualPort()}`);
	server.on("upgrade", (request, socket, head) => {
		const { host, origin } = request.headers;
		// Only the page itself may open a WebSocket: browsers let every site try.
		if (!isHere(request) || origin !== `http://${host}`) {
			socket.end("HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n");
			return;
		}
		sockets.handleUpgrade(request, socket, head, (page) => {
			page.on("message", (data, isBinary) => void handleMessage(page, data, isBinary));
			page.on("error", () => page.terminate());
			page.on("close", () => listenTo(page, undefined));
			view.add(page);
		});
	});
	await once(server.listen(port, LOOPBACK), "listening");
	const url = `http://${LOOPBACK}:${actualPort()}/`;
	device.pageUrl = url;
	return {
		url,
		close(): void {
			view.close();
			for (const socket of sockets.clients) {
				socket.terminate();
			}
			server.close();
			server.closeAllConnections();
		},
	};
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
