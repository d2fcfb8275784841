import type { WebSocket } from "ws";
import type { Rectangle } from "../../../src/screen/brush.js";
import {
	BINARY,
	PIXELS_HEAD_BYTES,
	SAMPLES_HEAD_BYTES,
	type ShownDevice,
	type ToPage,
	type TraceLine,
} from "./page-messages.js";
import { type LiveScreen, openLiveScreen, type ScreenPicture } from "./services/drawn-screen.js";
import type { TracedMessage } from "./services/network-faults.js";
import { type PlayedSamples, recordSounds } from "./services/sounds.js";
import type { VirtualDevice } from "./virtual-device.js";

/** Lines of the trace that a page gets when it opens. */
const MAX_LINES = 300;

/** Characters of a line. */
const MAX_LINE = 20_000;

/** Bytes that wait to be sent to a page, above which it gets no pixels: it gets them all when it has caught up. */
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

	const show = (picture: ScreenPicture, changed: readonly string[]): void => {
		if (liveScreen === undefined) {
			openScreen();
		} else {
			liveScreen.show(picture, changed);
		}
	};

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

	/** Draws its screen no more, until a page is opened or the screen changes. */
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

	const described = (): ShownDevice => {
		const { name, macAddress, engineName, board, isRunning, network, signal, surroundings } = device;
		const battery = surroundings.get("battery");
		return {
			type: "device",
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
			pins: device.pins,
			chips: device.chips,
			...(consoleUrl !== undefined && { consoleUrl: consoleUrl }),
		};
	};

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

	/** To a page that does not keep up they would come too late. */
	const sendSamples = ({ sampleRate, samples }: PlayedSamples): void => {
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

	device.on("screen", (picture, changed) => show(picture, changed));
	device.on("picture", (picture) => sendBytes(BINARY.picture, picture));
	device.on("samples", (played) => {
		recorder.add(played);
		sendSamples(played);
	});
	device.on("silence", () => recorder.end());
	device.on("message", (message) => trace(message));
	device.on("trace", (text) => addLine("log", text));
	device.on("note", (text) => addLine("note", text));
	device.on("exit", ({ code, detail }) => addLine("note", `the engine exited: ${code}: ${detail}`));
	device.on("halted", () => close());
	device.on("restarted", () => addLine("note", "restarted"));
	for (const event of ["halted", "restarted", "surrounded", "light", "pin"] as const) {
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
