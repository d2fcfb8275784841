import { signal } from "@preact/signals";
import { BINARY, type ShownDevice, type ToPage, type TraceLine } from "../src/page-messages.js";
import { play } from "./speaker.js";

/** Maximum lines of the trace on the page. */
const MAX_LINES = 2_000;

/** Milliseconds between attempts to reach a device that was stopped. */
const RETRY_DELAY = 1_000;

/** A sound that the device has played. */
export interface Sound {
	readonly id: number;
	readonly url: string;
}

/** Maximum sounds on the page. */
const MAX_SOUNDS = 3;

export const isConnected = signal(false);
export const device = signal<ShownDevice | undefined>(undefined);
export const lines = signal<readonly TraceLine[]>([]);
export const sounds = signal<readonly Sound[]>([]);
/** The picture on the screen. */
export const picture = signal<string | undefined>(undefined);
export const failure = signal("");

type OnPixels = (message: ArrayBuffer) => void;

let socket: WebSocket | undefined;
/** Pixels that have arrived before there is a screen to draw them. */
let early: ArrayBuffer[] = [];
let onPixels: OnPixels = (message) => early.push(message);
let lastSound = 0;

/** Calls back with the pixels that the device draws. */
export function followPixels(callback: OnPixels): void {
	onPixels = callback;
	early.forEach(callback);
	early = [];
}

/** Connects to the device, and reconnects whenever the connection ends. */
export function connect(): void {
	const opened = new WebSocket(`ws://${location.host}/device`);
	opened.binaryType = "arraybuffer";
	opened.onopen = () => {
		socket = opened;
		lines.value = [];
		failure.value = "";
		isConnected.value = true;
	};
	opened.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
		if (typeof data === "string") {
			take(JSON.parse(data) as ToPage);
		} else {
			takeBytes(data);
		}
	};
	opened.onclose = () => {
		isConnected.value = false;
		setTimeout(connect, RETRY_DELAY);
	};
}

/** Performs an action on the device. */
export function act(action: string, value?: unknown): void {
	failure.value = "";
	if (isConnected.value) {
		socket?.send(JSON.stringify({ action, value }));
	}
}

/** Sends recorded samples of the microphone. */
export function sendBytes(bytes: Uint8Array<ArrayBuffer>): void {
	if (isConnected.value) {
		socket?.send(bytes);
	}
}

/** Shows a JPEG file to the device's camera. */
export function sendPhoto(jpeg: Blob): void {
	failure.value = "";
	socket?.send(jpeg);
}

function take(message: ToPage): void {
	switch (message.type) {
		case "device":
			remember(message);
			device.value = message;
			if (!message.isRunning) {
				showPicture(undefined);
			}
			break;
		case "trace":
			lines.value = [...lines.value.slice(1 - MAX_LINES), message];
			break;
		case "failure":
			failure.value = message.message;
			break;
	}
}

function takeBytes(message: ArrayBuffer): void {
	const [kind] = new Uint8Array(message, 0, 1);
	const content = message.slice(1);
	if (kind === BINARY.pixels) {
		onPixels(message);
	} else if (kind === BINARY.sound) {
		lastSound += 1;
		const url = URL.createObjectURL(new Blob([content], { type: "audio/wav" }));
		const kept = [{ id: lastSound, url }, ...sounds.value];
		for (const old of kept.splice(MAX_SOUNDS)) {
			URL.revokeObjectURL(old.url);
		}
		sounds.value = kept;
	} else if (kind === BINARY.samples) {
		play(message);
	} else if (kind === BINARY.picture) {
		showPicture(URL.createObjectURL(new Blob([content])));
	}
}

/** Replaces the shown picture. */
export function showPicture(url: string | undefined): void {
	if (picture.value !== undefined) {
		URL.revokeObjectURL(picture.value);
	}
	picture.value = url;
}

/** Milliseconds that a curve shows. */
export const SPAN = 60_000;

/** Milliseconds between redraws of the curves while nothing changes. */
const STEP = 1_000;

/** Maximum values of a curve: only a dragged slider produces more. */
const MAX_VALUES = 600;

/** A value, and the time from which it holds, in milliseconds since 1970. */
export type Point = readonly [time: number, value: number];

/** Current time, for the curves. */
export const now = signal(Date.now());
setInterval(() => {
	now.value = Date.now();
}, STEP);

const histories = new Map<string, Point[]>();

/** The values of the last minute, the oldest first. The first one may be older: it holds at the minute's start. */
export function historyOf(key: string): readonly Point[] {
	return histories.get(key) ?? [];
}

/** Adds the measured values of a device to the histories. */
function remember({ pins, chips }: ShownDevice): void {
	for (const { pin, value } of pins) {
		if (typeof value === "number") {
			add(pinKey(pin), value);
		}
	}
	for (const { address, values } of chips) {
		for (const [name, value] of Object.entries(values)) {
			add(chipKey(address, name), value);
		}
	}
	now.value = Date.now();
}

export const pinKey = (pin: number): string => `pin ${pin}`;
export const chipKey = (address: number | string, name: string): string => `${address} ${name}`;

function add(key: string, value: number): void {
	const points = histories.get(key) ?? [];
	histories.set(key, points);
	if (points.at(-1)?.[1] !== value) {
		points.push([Date.now(), value]);
	}
	const begin = Date.now() - SPAN;
	const isOld = ([, next]: readonly [Point, Point | undefined]): boolean => next !== undefined && next[0] <= begin;
	while (points.length > MAX_VALUES || (points[0] !== undefined && isOld([points[0], points[1]]))) {
		points.shift();
	}
}
