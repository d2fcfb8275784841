import type { WebSocket } from "ws";
import type { Rectangle } from "../../../../src/screen/face/brush.js";
import { type LiveScreen, openLiveScreen } from "../services/drawn-screen.js";
import type { TracedMessage } from "../services/network-faults.js";
import type { ScreenPicture } from "../services/pictures.js";
import { type PlayedSamples, recordSounds } from "../services/sounds.js";
import type { VirtualDevice } from "../virtual-device.js";
import {
	BINARY,
	PIXELS_HEAD_BYTES,
	SAMPLES_HEAD_BYTES,
	type ShownDevice,
	type ToPage,
	type TraceLine,
} from "./page-messages.js";

/** Lines of the trace that a page gets when it opens. */
const MAX_LINES = 300;

/** Characters of a line. */
const MAX_LINE = 20_000;

/** Bytes that wait to be sent to a page, above which it gets no pixels: it gets them all when it has caught up. */
const MAX_WAITING = 2 * 1024 * 1024;

const FULL_BATTERY = { level: 88, charging: false };

/** A device's view for pages: its screen, drawn while a page is open, its state, the trace, its sounds. */
export class DeviceView {
	readonly #device: VirtualDevice;
	readonly #pages = new Map<WebSocket, { isStale: boolean }>();
	readonly #lines: TraceLine[] = [];
	readonly #recorder = recordSounds((wav) => this.#sendBytes(BINARY.sound, wav));
	#screen: LiveScreen | undefined;
	readonly #consoleUrl: string | undefined;
	#lastId = 0;
	/** The sender of the last message, if it was audio. */
	#audioFrom: TracedMessage["from"] | undefined;

	/** @param consoleUrl of its gateway, for a link */
	constructor(device: VirtualDevice, consoleUrl?: string) {
		this.#device = device;
		this.#consoleUrl = consoleUrl;
		device.on("screen", (picture, changed) => this.#show(picture, changed));
		device.on("picture", (picture) => this.#sendBytes(BINARY.picture, picture));
		device.on("samples", (played) => {
			this.#recorder.add(played);
			this.#sendSamples(played);
		});
		device.on("silence", () => this.#recorder.end());
		device.on("message", (message) => this.#trace(message));
		device.on("trace", (text) => this.#add("log", text));
		device.on("note", (text) => this.#add("note", text));
		device.on("exit", ({ code, detail }) => this.#add("note", `the engine exited: ${code}: ${detail}`));
		device.on("halted", () => this.close());
		device.on("restarted", () => this.#add("note", "restarted"));
		for (const event of ["halted", "restarted", "surrounded", "light", "pin"] as const) {
			device.on(event, () => this.#send(this.#described()));
		}
	}

	/** Shows the device to one more page. */
	add(page: WebSocket): void {
		this.#pages.set(page, { isStale: true });
		page.on("close", () => {
			this.#pages.delete(page);
			if (this.#pages.size === 0) {
				this.close();
			}
		});
		page.send(JSON.stringify(this.#described()));
		for (const line of this.#lines) {
			page.send(JSON.stringify(line));
		}
		this.#openScreen();
	}

	#show(picture: ScreenPicture, changed: readonly string[]): void {
		if (this.#screen === undefined) {
			this.#openScreen();
		} else {
			this.#screen.show(picture, changed);
		}
	}

	/** The screen is drawn only while a page is open: its fonts take memory, its face takes time. */
	#openScreen(): void {
		const { board, screen: shown } = this.#device;
		if (board.screen === undefined || shown === undefined || this.#pages.size === 0) {
			return;
		}
		if (this.#screen === undefined) {
			const screen = openLiveScreen(board.screen.width, board.screen.height, (area) => this.#sendPixels(screen, area));
			this.#screen = screen;
			screen.show(shown);
		} else {
			this.#sendPixels(this.#screen, this.#screen.whole);
		}
	}

	/** Draws its screen no more, until a page is opened or the screen changes. */
	close(): void {
		this.#screen?.close();
		this.#screen = undefined;
	}

	/** Adds only the first audio message in a row: 17 a second would hide everything else. */
	#trace({ from, over, topic, bytes, arrived }: TracedMessage): void {
		const text = describe(bytes);
		const wasAudio = this.#audioFrom === from;
		this.#audioFrom = text === undefined ? from : undefined;
		if (text === undefined && wasAudio) {
			return;
		}
		const remark = `${over}${topic === undefined ? "" : ` ${topic}`}${arrived ? "" : ", silenced"}`;
		this.#add(from, text ?? "audio", remark);
	}

	#add(kind: TraceLine["kind"], text: string, remark?: string): void {
		this.#lastId += 1;
		const shown = text.length > MAX_LINE ? `${text.slice(0, MAX_LINE)}… (${text.length} characters)` : text;
		const line: TraceLine = {
			type: "trace",
			id: this.#lastId,
			time: Date.now(),
			kind,
			text: shown,
			...(remark !== undefined && { remark }),
		};
		this.#lines.push(line);
		this.#lines.splice(0, this.#lines.length - MAX_LINES);
		this.#send(line);
	}

	#described(): ShownDevice {
		const { macAddress, engineName, board, isRunning, network, signal, surroundings } = this.#device;
		const battery = surroundings.get("battery");
		return {
			type: "device",
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
			lights: Object.fromEntries(this.#device.lights),
			pins: this.#device.pins,
			chips: this.#device.chips,
			...(this.#consoleUrl !== undefined && { consoleUrl: this.#consoleUrl }),
		};
	}

	#send(message: ToPage): void {
		const text = JSON.stringify(message);
		for (const page of this.#pages.keys()) {
			page.send(text);
		}
	}

	#sendBytes(kind: number, bytes: Uint8Array): void {
		for (const page of this.#pages.keys()) {
			page.send(Buffer.concat([Uint8Array.of(kind), bytes]));
		}
	}

	/** To a page that does not keep up they would come too late. */
	#sendSamples({ sampleRate, samples }: PlayedSamples): void {
		const head = Buffer.alloc(SAMPLES_HEAD_BYTES);
		head[0] = BINARY.samples;
		head.writeUInt32LE(sampleRate, 4);
		for (const page of this.#pages.keys()) {
			if (page.bufferedAmount <= MAX_WAITING) {
				page.send(Buffer.concat([head, samples]));
			}
		}
	}

	#sendPixels(screen: LiveScreen, area: Rectangle): void {
		for (const [page, state] of this.#pages) {
			if (page.bufferedAmount > MAX_WAITING) {
				state.isStale = true;
			} else {
				page.send(pixelsOf(screen, state.isStale ? screen.whole : area));
				state.isStale = false;
			}
		}
	}
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
