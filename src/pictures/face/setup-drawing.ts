import type { SetupNotice, WiFiAccess } from "../../hardware/wifi-setup.js";
import type { Words } from "../../language/en.js";
import { deepFreeze } from "../../text/deep-freeze.js";
import type { Canvas, Font } from "./brush.js";
import { Brush } from "./brush.js";
import { mix } from "./face-colors.js";
import type { FacePicture } from "./face-drawing.js";
import { hostOf } from "./face-status.js";
import { breakLines } from "./line-breaks.js";
import { drawHeader, headerHeight, MARGIN } from "./status-drawing.js";

/** A QR code: a byte for each module, row by row, 1 where it is dark. Without the light border. */
export type QrCode = ArrayBuffer & { readonly size: number };

/** Makes a QR code; throws if the text does not fit. The SDK's module `qrcode`. */
export type MakeQrCode = (options: { input: string; maxVersion?: number }) => QrCode;

/** 41 modules to a side: room for 106 bytes. */
const MAX_VERSION = 6;

/** Modules of light border that readers need. */
const BORDER = 4;

/** Pixels of a module that a phone's camera can tell apart. */
const MIN_SCALE = 2;

/** Lines for what happens now: more would cover the network's name. */
const MAX_PROGRESS_LINES = 4;

/** Dark runs that are drawn at a time: the canvas keeps a list of what it is to draw, which has an end. */
const RUNS_AT_A_TIME = 48;

const BLACK = deepFreeze([0, 0, 0] as const);
const WHITE = deepFreeze([255, 255, 255] as const);

/** The text by which a phone's camera joins a Wi-Fi network. */
const wifiText = ({ ssid, password }: WiFiAccess): string => {
	const quote = (text: string): string => text.replace(/[\\;,:"]/g, "\\$&");
	const secret = password === "" ? "" : `P:${quote(password)};`;
	return `WIFI:T:${password === "" ? "nopass" : "WPA"};S:${quote(ssid)};${secret};`;
};

/**
 * Draws how a phone gets to the set-up page: a QR code by which it joins the device's Wi-Fi, the same in words, and what
 * happens now. Without a QR code there are only the words.
 */
export const drawSetup = (
	canvas: Canvas,
	font: Font,
	picture: FacePicture & { readonly setup: SetupNotice },
	code?: QrCode,
): void => {
	const colors = mix(canvas, picture.theme, picture.dim);
	const brush = new Brush(canvas);
	const top = headerHeight(font);
	const measure = (character: string): number => canvas.getTextWidth(character, font);
	const told = breakLines(picture.setup.progress, canvas.width - 2 * MARGIN, measure).slice(0, MAX_PROGRESS_LINES);
	const bottom = canvas.height - told.length * font.height - MARGIN;
	const lines = stepsOf(picture.setup, picture.face.words);
	// The words stand beside the code, or under it.
	const isWide = canvas.width > canvas.height;
	const room = isWide
		? { width: canvas.width >> 1, height: bottom - top - MARGIN }
		: { width: canvas.width - 2 * MARGIN, height: bottom - top - MARGIN - lines.length * font.height };
	const side = code === undefined ? 0 : codeSide(code, room);
	const words = {
		x: MARGIN + (isWide && side > 0 ? side + MARGIN : 0),
		top: top + (isWide ? 0 : side) + MARGIN,
		bottom,
	};
	canvas.begin();
	canvas.fillRectangle(colors.background, 0, 0, canvas.width, canvas.height);
	brush.clip(0, 0, canvas.width, top);
	drawHeader({ canvas, brush, font, colors }, { ...picture.face, battery: undefined, signal: undefined });
	drawLines(canvas, font, colors.ink, lines, words);
	drawLines(canvas, font, colors.ink, told, {
		x: MARGIN,
		top: bottom,
		bottom: canvas.height,
	});
	canvas.end();
	if (code !== undefined && side > 0) {
		drawCode(canvas, code, MARGIN, top + MARGIN, side);
	}
};

/** Pixels of a side, a whole number for each module; 0 if there is no room for a code that a phone can read. */
const codeSide = ({ size }: QrCode, room: { readonly width: number; readonly height: number }): number => {
	const modules = size + 2 * BORDER;
	const scale = Math.floor(Math.min(room.height, room.width) / modules);
	return scale < MIN_SCALE ? 0 : scale * modules;
};

interface Place {
	readonly x: number;
	readonly top: number;
	readonly bottom: number;
}

/** Lists the steps. A build without words shows only the network and the address. */
const stepsOf = ({ ssid, password, url }: SetupNotice, words: Words | undefined): readonly string[] => {
	const { joinWifi = "", openPage = "" } = words ?? {};
	return [joinWifi, ssid, password, openPage, hostOf(url)].filter((line) => line !== "");
};

const drawLines = (canvas: Canvas, font: Font, color: number, lines: readonly string[], place: Place): void => {
	let y = place.top;
	for (const line of lines) {
		const width = canvas.width - place.x - MARGIN;
		if (width > 0 && y + font.height <= place.bottom) {
			canvas.drawText(line, font, color, place.x, y, width);
		}
		y += font.height;
	}
};

/** Dark on white, whatever the theme, because not every reader takes the opposite. */
const drawCode = (canvas: Canvas, code: QrCode, x: number, y: number, side: number): void => {
	const scale = side / (code.size + 2 * BORDER);
	const white = canvas.makeColor(...WHITE);
	const black = canvas.makeColor(...BLACK);
	const bytes = new Uint8Array(code);
	let first = -BORDER;
	while (first < code.size + BORDER) {
		let last = first;
		let runs: Run[] = [];
		for (let row = first; row < code.size + BORDER; row += 1) {
			const more = darkRuns(bytes, code.size, row);
			if (runs.length + more.length > RUNS_AT_A_TIME && row > first) {
				break;
			}
			runs = [...runs, ...more];
			last = row + 1;
		}
		const top = y + (first + BORDER) * scale;
		const height = (last - first) * scale;
		canvas.begin(x, top, side, height);
		canvas.fillRectangle(white, x, top, side, height);
		for (const { row, column, length } of runs) {
			canvas.fillRectangle(black, x + (column + BORDER) * scale, y + (row + BORDER) * scale, length * scale, scale);
		}
		canvas.end();
		first = last;
	}
};

interface Run {
	readonly row: number;
	readonly column: number;
	readonly length: number;
}

/** The dark modules of a row that are beside each other, together. */
const darkRuns = (bytes: Uint8Array, size: number, row: number): readonly Run[] => {
	const runs: Run[] = [];
	for (let column = 0; row >= 0 && row < size && column < size; column += 1) {
		let length = 0;
		while (column + length < size && bytes[row * size + column + length] === 1) {
			length += 1;
		}
		if (length > 0) {
			runs.push({ row, column, length });
			column += length;
		}
	}
	return runs;
};

/** The QR code for a network, or none if its name and password are too long for one. */
export const makeWiFiCode = (makeQrCode: MakeQrCode, access: WiFiAccess): QrCode | undefined => {
	try {
		return makeQrCode({ input: wifiText(access), maxVersion: MAX_VERSION });
	} catch {
		return undefined;
	}
};
