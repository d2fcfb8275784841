import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import getPort, { portNumbers } from "get-port";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import type { Rectangle } from "xs-mcp-firmware/screen/brush";
import { contentTypeOf, pagePolicy } from "xs-mcp-gateway/page-headers";
import * as z from "zod";
import { fields, read, readAction } from "./actions.js";
import {
	BINARY,
	MICROPHONE,
	PIXELS_HEAD_BYTES,
	SAMPLES_HEAD_BYTES,
	type ToPage,
	type TraceLine,
} from "./page-messages.js";
import { type LiveScreen, openLiveScreen } from "./services/drawn-screen.js";
import type { TracedMessage } from "./services/network-faults.js";
import { type PlayedSamples, recordSounds } from "./services/sounds.js";
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

/** The usual port of the page. */
const PAGE_PORT = 8768;

/** A virtual device's page. */
export type DevicePage = Awaited<ReturnType<typeof openDevicePage>>;

/**
 * Serves a device's page, with a WebSocket for each open page, to this machine's browsers on the loopback address.
 * Rejects if the port is taken.
 *
 * @param folder of the page's bundle
 * @param port 0: any free one; undefined: the usual one, or, where that is taken, the next free one
 * @param consoleUrl of its gateway, for a link
 */
export async function openDevicePage(device: VirtualDevice, folder: string, port?: number, consoleUrl?: string) {
	const view = showDevice(device, consoleUrl);
	const send = serveFiles(folder);
	/** The page whose microphone the device hears: the first one that has switched it on. */
	let recording: WebSocket | undefined;

	/** @param samples undefined: the page's microphone is off */
	const listenTo = (page: WebSocket, samples: Int16Array | undefined): void => {
		if (samples !== undefined) {
			recording ??= page;
		}
		if (recording === page) {
			device.environment.microphone.hearLive(samples);
			recording = samples && page;
		}
	};
	const handleMessage = async (page: WebSocket, data: RawData, isBinary: boolean): Promise<void> => {
		try {
			if (isBinary && isRecorded(data as Buffer)) {
				listenTo(page, readSamples(data as Buffer));
			} else if (isBinary) {
				device.environment.photo = readJpeg(data as Buffer);
			} else {
				const { action, value } = read(message, JSON.parse(String(data)), []);
				await readAction(action, value, [action])(device);
			}
		} catch (error) {
			page.send(JSON.stringify({ type: "failure", message: (error as Error).message } satisfies ToPage));
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
	const sockets = new WebSocketServer({
		server,
		maxPayload: MAX_MESSAGE_BYTES,
		// Only the page itself may open a WebSocket: browsers let every site try.
		verifyClient: ({ req, origin }, done) => done(isHere(req) && origin === `http://${req.headers.host}`, 403),
	});
	// Errors of the HTTP server, such as a taken port, are handled below.
	sockets.on("error", () => {});
	sockets.on("connection", (page) => {
		page.on("message", (data, isBinary) => void handleMessage(page, data, isBinary));
		page.on("error", () => page.terminate());
		page.on("close", () => listenTo(page, undefined));
		view.add(page);
	});
	const chosen = port ?? (await getPort({ port: portNumbers(PAGE_PORT, PAGE_PORT + 100) }));
	await once(server.listen(chosen, LOOPBACK), "listening");
	const url = `http://${LOOPBACK}:${actualPort()}/`;
	device.environment.pageUrl = url;
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

/**
 * Messages of a page, as JSON: see {@link readAction}. A binary one is the camera's new JPEG picture, or has the prefix
 * {@link MICROPHONE}.
 */
const message = fields({ action: z.string(), value: z.unknown().optional() });

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
	return ({ url = "/" }, response) => {
		const path = url === "/" ? "/index.html" : url;
		const body = files.get(path);
		if (body === undefined) {
			reject(response, 404, "not found");
		} else {
			response.writeHead(200, { ...HEADERS, "Content-Type": contentTypeOf(path) }).end(body);
		}
	};
}

/** Answers a request with an error, as text. */
function reject(response: ServerResponse, status: number, reason: string): void {
	response.writeHead(status, { ...HEADERS, "Content-Type": "text/plain; charset=utf-8" });
	response.end(`${reason}\n`);
}

/** Lines of the trace that a page gets when it opens. */
const MAX_LINES = 300;

/** Characters of a line. */
const MAX_LINE = 20_000;

/** Queued bytes above which a page gets no pixels. Once it has caught up, it gets the whole screen. */
const MAX_WAITING = 2 * 1024 * 1024;

const FULL_BATTERY = { level: 88, charging: false };

/**
 * Shows a device to pages: its screen, drawn while a page is open, its state, the trace, its sounds.
 *
 * @param consoleUrl of its gateway, for a link
 */
export function showDevice(device: VirtualDevice, consoleUrl?: string) {
	const pages = new Map<WebSocket, { isStale: boolean }>();
	const lines: TraceLine[] = [];
	const recorder = recordSounds((wav) => sendBytes(BINARY.sound, wav));
	let liveScreen: LiveScreen | undefined;
	let lastId = 0;
	/** The sender of the last message, if it was audio. */
	let audioFrom: TracedMessage["from"] | undefined;

	/** The screen is drawn only while a page is open: its fonts take memory, its face takes time. */
	const openScreen = (): void => {
		const { board, screen: shown } = device;
		if (board.screen === undefined || shown === undefined || pages.size === 0) {
			return;
		}
		if (liveScreen === undefined) {
			const screen = openLiveScreen(board.screen.width, board.screen.height, (area) => sendPixels(screen, area));
			liveScreen = screen;
			screen.show(shown);
		} else {
			sendPixels(liveScreen, liveScreen.whole);
		}
	};

	/** Stops drawing the screen until a page is opened or the screen changes. */
	const close = (): void => {
		liveScreen?.close();
		liveScreen = undefined;
	};

	/** Adds only the first audio message in a row: 17 a second would hide everything else. */
	const trace = ({ from, over, topic, bytes, arrived }: TracedMessage): void => {
		const text = describe(bytes);
		const wasAudio = audioFrom === from;
		audioFrom = text === undefined ? from : undefined;
		if (text === undefined && wasAudio) {
			return;
		}
		const remark = `${over}${topic === undefined ? "" : ` ${topic}`}${arrived ? "" : ", silenced"}`;
		addLine(from, text ?? "audio", remark);
	};

	const addLine = (kind: TraceLine["kind"], text: string, remark?: string): void => {
		lastId += 1;
		const shown = text.length > MAX_LINE ? `${text.slice(0, MAX_LINE)}… (${text.length} characters)` : text;
		const line: TraceLine = {
			type: "trace",
			id: lastId,
			time: Date.now(),
			kind,
			text: shown,
			...(remark !== undefined && { remark }),
		};
		lines.push(line);
		lines.splice(0, lines.length - MAX_LINES);
		send(line);
	};

	const described = () => describeDevice(device, consoleUrl);

	const send = (message: ToPage): void => {
		const text = JSON.stringify(message);
		for (const page of pages.keys()) {
			page.send(text);
		}
	};

	const sendBytes = (kind: number, bytes: Uint8Array): void => {
		for (const page of pages.keys()) {
			page.send(Buffer.concat([Uint8Array.of(kind), bytes]));
		}
	};

	/** Sends samples to the pages that keep up. Others would play them too late. */
	const sendSamples = ({ sampleRate, samples }: PlayedSamples): void => {
		recorder.add({ sampleRate, samples });
		const head = Buffer.alloc(SAMPLES_HEAD_BYTES);
		head[0] = BINARY.samples;
		head.writeUInt32LE(sampleRate, 4);
		for (const page of pages.keys()) {
			if (page.bufferedAmount <= MAX_WAITING) {
				page.send(Buffer.concat([head, samples]));
			}
		}
	};

	const sendPixels = (screen: LiveScreen, area: Rectangle): void => {
		for (const [page, state] of pages) {
			if (page.bufferedAmount > MAX_WAITING) {
				state.isStale = true;
			} else {
				page.send(pixelsOf(screen, state.isStale ? screen.whole : area));
				state.isStale = false;
			}
		}
	};

	device.on("screen", (picture, changed) => {
		if (liveScreen === undefined) {
			openScreen();
		} else {
			liveScreen.show(picture, changed);
		}
	});
	device.on("picture", (picture) => sendBytes(BINARY.picture, picture));
	device.on("samples", sendSamples);
	device.on("silence", recorder.end);
	device.on("message", trace);
	device.on("trace", (text) => addLine("log", text));
	device.on("note", (text) => addLine("note", text));
	device.on("exit", ({ code, detail }) => addLine("note", `the engine exited: ${code}: ${detail}`));
	device.on("halted", close);
	device.on("restarted", () => addLine("note", "restarted"));
	for (const event of ["halted", "restarted", "surrounded", "light", "servo", "pin"] as const) {
		device.on(event, () => send(described()));
	}
	return {
		/** Shows the device to one more page. */
		add(page: WebSocket): void {
			pages.set(page, { isStale: true });
			page.on("close", () => {
				pages.delete(page);
				if (pages.size === 0) {
					close();
				}
			});
			page.send(JSON.stringify(described()));
			for (const line of lines) {
				page.send(JSON.stringify(line));
			}
			openScreen();
		},
		close,
	};
}

/** Describes a device for its page. @param consoleUrl of its gateway, if its console runs on this computer */
export function describeDevice(device: VirtualDevice, consoleUrl?: string) {
	const { name, macAddress, engineName, board, isRunning, network, signal, pins, chips } = device;
	const { surroundings } = device.environment;
	const battery = surroundings.get("battery");
	return {
		type: "device" as const,
		name,
		macAddress,
		engine: engineName,
		board,
		isRunning,
		network,
		signal,
		battery: battery?.[0] === "board.battery" ? { level: battery[1], charging: battery[2] } : FULL_BATTERY,
		readings: Object.fromEntries(
			[...surroundings.values()].flatMap((each) => (each[0] === "board.reading" ? [[each[1], each[2]]] : [])),
		),
		lights: Object.fromEntries(device.lights),
		servos: Object.fromEntries(device.servos),
		pins,
		chips,
		consoleUrl,
	};
}

function pixelsOf(screen: LiveScreen, area: Rectangle): Buffer {
	const head = Buffer.alloc(PIXELS_HEAD_BYTES);
	head[0] = BINARY.pixels;
	for (const [index, value] of [area.x, area.y, area.width, area.height].entries()) {
		head.writeUInt16BE(value, 2 + 2 * index);
	}
	return Buffer.concat([head, screen.read(area)]);
}

/** A message as text; undefined: it is binary. */
function describe(bytes: Uint8Array): string | undefined {
	try {
		return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
	} catch {
		return undefined;
	}
}
