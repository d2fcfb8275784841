import { deepFreeze } from "../core/text/deep-freeze.js";
import type { Face } from "../hardware/hardware.js";
import type { Brush, Canvas, Font } from "./brush.js";
import type { Colors } from "./face-colors.js";
import { visibleText } from "./line-breaks.js";

/** The device's status line for people. */
interface Status {
	readonly word: "offline" | "setup" | "connecting" | "listening" | "updating" | "error";
	readonly color: "accent" | "notice" | "alert";
}

const OFFLINE: Status = Object.freeze({ word: "offline", color: "alert" });
const SETUP: Status = Object.freeze({ word: "setup", color: "notice" });
const CONNECTING: Status = Object.freeze({ word: "connecting", color: "accent" });

/** The states that are shown to people. */
const STATES: Readonly<Record<string, Status>> = deepFreeze({
	starting: CONNECTING,
	wifi_configuring: SETUP,
	activating: CONNECTING,
	upgrading: { word: "updating", color: "notice" },
	connecting: CONNECTING,
	listening: { word: "listening", color: "accent" },
	fatal_error: { word: "error", color: "alert" },
});

/** States that are more important to show than that the device is offline. */
const ABOVE_OFFLINE = Object.freeze(["wifi_configuring", "upgrading", "fatal_error"]);

/** Changes that a person notices wake the face. */
const FOR_PEOPLE = Object.freeze("state code emotion alert setup online volume details".split(" ") as (keyof Face)[]);

/** Returns the status to show; undefined in normal operation. */
const statusOf = ({ state, online, setup }: Pick<Face, "state" | "online" | "setup">): Status | undefined => {
	if (setup !== undefined) {
		return SETUP;
	}
	return online || ABOVE_OFFLINE.includes(state) ? STATES[state] : OFFLINE;
};

/** Returns the word for the status; empty in normal operation. */
const statusText = (face: Face): string => {
	const status = statusOf(face);
	return (status && face.words?.[status.word]) ?? "";
};

/** Returns state and backend in the firmware's own terms, for troubleshooting. */
const detailsOf = ({ state, backend, connected }: Face): string =>
	`${state} ${connected ? "" : "! "}${hostOf(backend)}`;

/** Returns the host of a URL, because there is no room for more. */
export const hostOf = (url: string): string => {
	const start = url.indexOf("://") + 3;
	const end = url.indexOf("/", start);
	return start < 3 ? url : url.slice(start, end < 0 ? undefined : end);
};

/** Returns the content of the header, as a text to compare. */
export const headerOf = (face: Face): string => {
	const { battery, signal, online, details } = face;
	const status = statusText(face);
	const icons = `${battery?.level} ${battery?.charging} ${signal} ${online}`;
	return `${status} ${icons} ${details ? detailsOf(face) : ""}`;
};

/** Whether a change wakes the face. */
export const isForPeople = (old: Face, face: Face): boolean => FOR_PEOPLE.some((key) => old[key] !== face[key]);

/** Returns the words, as a text to compare. */
export const wordsOf = ({ message, alert }: Face): string => `${alert.status}\n${alert.message}\n${message}`;

/** Pixels around the drawing. */
export const MARGIN = 6;

/** Pixels of the icons. */
const ICON_HEIGHT = 12;
const BATTERY_WIDTH = 22;
const WIFI_WIDTH = 20;

/** Percent below which a battery is almost empty. */
const LOW_BATTERY = 20;

/** Pixels of the panel for a level. */
const LEVEL_HEIGHT = 26;
const MAX_LEVEL_WIDTH = 200;

/** A level that has just been set. */
export interface Level {
	readonly of: "volume" | "brightness";
	readonly percent: number;
}

/** The tools for icons and text. */
export interface Tools {
	readonly canvas: Canvas;
	readonly brush: Brush;
	readonly font: Font;
	readonly colors: Colors;
}

/** Height of the header, in pixels. */
export const headerHeight = (font: Font): number => font.height + MARGIN;

/** Draws the status, and icons for battery and Wi-Fi, unless a small screen has no room for both. */
export const drawHeader = (tools: Tools, face: Face): void => {
	const { canvas, brush, font, colors } = tools;
	const word = face.details ? "" : statusText(face);
	const status = word === "" ? undefined : statusOf(face);
	const measure = (character: string): number => canvas.getTextWidth(character, font);
	const text = visibleText(face.details ? detailsOf(face) : word, measure);
	const wide = canvas.getTextWidth(text, font);
	const hasIcons = text === "" || wide + 4 * MARGIN + iconsWidth(face) <= canvas.width;
	const room = canvas.width - 3 * MARGIN - (hasIcons ? iconsWidth(face) : 0);
	if (hasIcons) {
		drawIcons(tools, face);
	}
	if (status !== undefined) {
		brush.color = colors[status.color];
		brush.rounded(MARGIN - 2, 2, Math.min(wide, room) + 2 * MARGIN, font.height + 2, font.height >> 1);
	}
	if (text !== "") {
		const color = status === undefined ? colors.ink : colors.onColor;
		canvas.drawText(text, font, color, 2 * MARGIN - 2, MARGIN / 2, room);
	}
};

const iconsWidth = ({ battery, signal }: Face): number =>
	(battery === undefined ? 0 : BATTERY_WIDTH + MARGIN) + (signal === undefined ? 0 : WIFI_WIDTH + MARGIN);

const drawIcons = (tools: Tools, { battery, signal, online }: Face): void => {
	const { canvas, font } = tools;
	const y = (headerHeight(font) - ICON_HEIGHT) >> 1;
	let x = canvas.width - MARGIN;
	if (battery !== undefined) {
		x -= BATTERY_WIDTH;
		drawBattery(tools, battery, x, y);
		x -= MARGIN;
	}
	if (signal !== undefined) {
		x -= WIFI_WIDTH;
		drawWiFi(tools, online ? signal : 0, x, y);
	}
};

const drawBattery = (
	{ canvas, brush, colors }: Tools,
	{ level, charging }: NonNullable<Face["battery"]>,
	x: number,
	y: number,
): void => {
	const body = BATTERY_WIDTH - 3;
	brush.color = colors.ink;
	brush.rounded(x, y, body, ICON_HEIGHT, 3);
	canvas.fillRectangle(colors.ink, x + body, y + 4, 2, ICON_HEIGHT - 8);
	brush.color = colors.background;
	brush.rounded(x + 2, y + 2, body - 4, ICON_HEIGHT - 4, 1);
	const filled = Math.round(((body - 6) * Math.min(100, Math.max(0, level))) / 100);
	const color = charging ? colors.accent : level <= LOW_BATTERY ? colors.alert : colors.ink;
	canvas.fillRectangle(color, x + 3, y + 3, filled, ICON_HEIGHT - 6);
	if (charging) {
		brush.color = colors.ink;
		brush.polygon([x + 11, y + 1, x + 12, y + 5, x + 9, y + 7, x + 5, y + 7]);
		brush.polygon([x + 10, y + 5, x + 14, y + 5, x + 8, y + 11, x + 7, y + 7]);
	}
};

/** @param signal bars from 1 to 3; 0: offline */
const drawWiFi = ({ brush, colors }: Tools, signal: number, x: number, y: number): void => {
	const middle = x + WIFI_WIDTH / 2;
	const color = (bar: number): number => (signal >= bar ? colors.ink : colors.quiet);
	brush.color = color(1);
	brush.oval(middle, y + 10, 2, 2);
	brush.color = color(2);
	brush.arc(middle, y + 6.5, 4, -2, 2);
	brush.color = color(3);
	brush.arc(middle, y + 3.5, 8, -3.5, 2);
	if (signal === 0) {
		brush.color = colors.alert;
		brush.line(x + 3, y + 11, x + WIFI_WIDTH - 3, y + 1, 2);
	}
};

/** The first row of a level's panel. */
export const levelTop = (canvas: Canvas): number => canvas.height - LEVEL_HEIGHT - MARGIN;

/** Draws an icon, and a bar as long as the level. */
export const drawLevel = ({ canvas, brush, colors }: Tools, { of, percent }: Level): void => {
	const width = Math.min(canvas.width - 2 * MARGIN, MAX_LEVEL_WIDTH);
	const x = (canvas.width - width) >> 1;
	const y = levelTop(canvas);
	const middle = y + LEVEL_HEIGHT / 2;
	brush.color = colors.quiet;
	brush.rounded(x, y, width, LEVEL_HEIGHT, LEVEL_HEIGHT / 2);
	brush.color = colors.ink;
	if (of === "volume") {
		drawSpeaker(brush, x + 18, middle);
	} else {
		drawSun(brush, x + 19, middle);
	}
	const [left, length] = [x + 36, width - 50];
	brush.color = colors.background;
	brush.rounded(left, middle - 3, length, 6, 3);
	brush.color = colors.accent;
	brush.rounded(left, middle - 3, Math.max(6, Math.round((length * percent) / 100)), 6, 3);
};

const drawSpeaker = (brush: Brush, x: number, y: number): void => {
	brush.polygon([x - 6, y - 2.5, x - 2, y - 2.5, x + 3, y - 7, x + 3, y + 7, x - 2, y + 2.5, x - 6, y + 2.5]);
	brush.line(x + 7, y - 3, x + 7, y + 3, 2);
};

const drawSun = (brush: Brush, x: number, y: number): void => {
	brush.oval(x, y, 4, 4);
	for (const [toX, toY] of [
		[0, 8],
		[8, 0],
		[5.5, 5.5],
		[5.5, -5.5],
	] as const) {
		brush.oval(x + toX, y + toY, 1.2, 1.2);
		brush.oval(x - toX, y - toY, 1.2, 1.2);
	}
};
