import type { Face } from "../hardware/hardware.js";
import type { SetupNotice, WiFiAccess } from "../hardware/wifi-setup.js";
import type { Canvas } from "./brush.js";
import { breakLines } from "./line-breaks.js";
import { drawHeader, headerHeight, hostOf, MARGIN, type Tools } from "./status-drawing.js";

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

/** Maximum lines of progress: more would cover the network's name. */
const MAX_PROGRESS_LINES = 4;

/** Returns the text of a QR code with which a phone joins a Wi-Fi network. */
const wifiText = ({ ssid, password }: WiFiAccess): string => {
	const quote = (text: string): string => text.replace(/[\\;,:"]/g, "\\$&");
	const secret = password === "" ? "" : `P:${quote(password)};`;
	return `WIFI:T:${password === "" ? "nopass" : "WPA"};S:${quote(ssid)};${secret};`;
};

/** Draws the way to the set-up page: a QR code if there is one, the same in words, and the progress. */
export const drawSetup = (tools: Tools, face: Face, setup: SetupNotice, code?: QrCode): void => {
	const { canvas, brush, font, colors } = tools;
	const { width, height } = canvas;
	const top = headerHeight(font);
	const measure = (character: string): number => canvas.getTextWidth(character, font);
	const progress = breakLines(setup.progress, width - 2 * MARGIN, measure).slice(0, MAX_PROGRESS_LINES);
	const bottom = height - progress.length * font.height - MARGIN;
	// A build without words shows only the network and the address.
	const { joinWifi = "", openPage = "" } = face.words ?? {};
	const lines = [joinWifi, setup.ssid, setup.password, openPage, hostOf(setup.url)];
	const steps = lines.filter((line) => line !== "");
	// The words are to the right of the code, or under it.
	const isWide = width > height;
	const room = bottom - top - MARGIN;
	const side = codeSide(
		code,
		isWide ? Math.min(width >> 1, room) : Math.min(width - 2 * MARGIN, room - steps.length * font.height),
	);
	const left = MARGIN + (isWide && side > 0 ? side + MARGIN : 0);
	canvas.begin();
	canvas.fillRectangle(colors.background, 0, 0, width, height);
	brush.clip(0, 0, width, top);
	drawHeader(tools, { ...face, battery: undefined, signal: undefined });
	drawLines(tools, steps, left, top + (isWide ? 0 : side) + MARGIN, bottom);
	drawLines(tools, progress, MARGIN, bottom, height);
	canvas.end();
	if (code !== undefined && side > 0) {
		drawCode(canvas, code, MARGIN, top + MARGIN, side);
	}
};

/** Returns the side in pixels, a whole number per module; 0 if there is no room for a readable code. */
const codeSide = (code: QrCode | undefined, room: number): number => {
	const modules = (code?.size ?? 0) + 2 * BORDER;
	const scale = Math.floor(room / modules);
	return code === undefined || scale < MIN_SCALE ? 0 : scale * modules;
};

const drawLines = (
	{ canvas, font, colors }: Tools,
	lines: readonly string[],
	x: number,
	top: number,
	bottom: number,
) => {
	let y = top;
	for (const line of lines) {
		const width = canvas.width - x - MARGIN;
		if (width > 0 && y + font.height <= bottom) {
			canvas.drawText(line, font, colors.ink, x, y, width);
		}
		y += font.height;
	}
};

/** Draws dark on white for every reader, and row by row, because the canvas's display list is limited. */
const drawCode = (canvas: Canvas, code: QrCode, x: number, y: number, side: number): void => {
	const { size } = code;
	const scale = side / (size + 2 * BORDER);
	const [white, black] = [canvas.makeColor(255, 255, 255), canvas.makeColor(0, 0, 0)];
	const modules = new Uint8Array(code);
	for (let row = -BORDER; row < size + BORDER; row += 1) {
		const top = y + (row + BORDER) * scale;
		canvas.begin(x, top, side, scale);
		canvas.fillRectangle(white, x, top, side, scale);
		for (let column = 0; row >= 0 && row < size && column < size; column += 1) {
			if (modules[row * size + column] === 1) {
				canvas.fillRectangle(black, x + (column + BORDER) * scale, top, scale, scale);
			}
		}
		canvas.end();
	}
};

/** Makes the QR code for a network; undefined if its name and password are too long. */
export const makeWiFiCode = (makeQrCode: MakeQrCode, access: WiFiAccess): QrCode | undefined => {
	try {
		return makeQrCode({ input: wifiText(access), maxVersion: MAX_VERSION });
	} catch {
		return undefined;
	}
};
