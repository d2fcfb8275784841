import { ENGLISH } from "../../src/language/en.js";
import { emotionWords } from "../../src/pictures/face/emotions.js";
import { type DrawnScreen, drawFaceOf } from "../../virtual-device/src/services/drawn-screen.js";
import { PixelCanvas } from "../../virtual-device/src/services/pixel-canvas.js";

/** Pixels between screens. */
const GAP = 8;

/** Pixels of the screens of boards, the smallest first. */
const SIZES = [
	[128, 128],
	[135, 240],
	[170, 320],
	[240, 240],
	[320, 240],
] as const;

const THEMES = ["light", "dark"] as const;

/** Emotions beside each other. */
const COLUMNS = 7;

/** The same in Chinese, Japanese, German and Russian, longer than a page of the small screens. */
const MESSAGES = [
	"今天慕尼黑天气很好，最高气温25°C。（下午可能有雷阵雨，）出门请记得「带伞」！嗯，祝你愉快。",
	"今日のミュンヘンはとても良い天気で、最高気温は25℃です。「カーテン」を開けましょうか？午後は雷雨にちょっとご注意ください。",
	"In München ist es heute schön, bis 25 °C. Nachmittags gibt es Wärmegewitter: bitte Regenschirm mitnehmen, Grüße!",
	"Сегодня в Мюнхене хорошая погода, до 25 °C. Днём возможна гроза: возьмите, пожалуйста, зонт!",
] as const;

/** A device in a session, at rest. */
const RESTING = {
	brightness: 100,
	theme: "light",
	state: "idle",
	words: ENGLISH,
	backend: "ws://gateway.local/",
	connected: true,
	battery: { level: 80, charging: false },
	signal: 3,
} as const;

const SETUP = { ssid: "xs-mcp-56789a", password: "abcdefgh", url: "http://192.168.4.1/", progress: "Joining home …" };

/** States of the screen, by name. */
const STATES: Readonly<Record<string, Partial<DrawnScreen>>> = {
	idle: {},
	listening: { state: "listening" },
	speaking: { state: "speaking", emotion: "happy", message: "今天天气很好，最高25度。" },
	offline: { online: false, emotion: "sleepy" },
	alert: {
		emotion: "sad",
		alert: { status: "Battery", message: "almost empty" },
		battery: { level: 12, charging: false },
	},
	updating: { state: "upgrading", emotion: "thinking", alert: { status: "Updating", message: "812 of 1,931 KB" } },
	"set-up": { state: "wifi_configuring", setup: SETUP },
	code: { state: "activating", code: "123456", message: "Enter the code in the console." },
	details: { details: true },
};

/** The sheets of docs/images, by their names. */
export const SHEETS: Readonly<Record<string, () => PixelCanvas>> = {
	/** All messages on all screens: a row for each message, a column for each size. */
	text: () =>
		makeSheet(
			MESSAGES.map((message) =>
				SIZES.map(([width, height]) =>
					drawFaceOf({ ...RESTING, width, height, theme: "dark", state: "speaking", emotion: "happy", message }),
				),
			),
		),
	/** All emotions of the family in both themes. */
	emotions: () =>
		makeSheet(
			THEMES.flatMap((theme) =>
				rowsOf(emotionWords()).map((words) =>
					words.map((emotion) => drawFaceOf({ ...RESTING, width: 160, height: 128, theme, emotion })),
				),
			),
		),
	/** Each state on each size, both themes in turn. */
	states: () =>
		makeSheet(
			Object.values(STATES).map((state) =>
				SIZES.map(([width, height], at) =>
					drawFaceOf({ ...RESTING, width, height, theme: THEMES[at % 2] as "light" | "dark", ...state }),
				),
			),
		),
};

function rowsOf(words: readonly string[]): readonly (readonly string[])[] {
	const rows: (readonly string[])[] = [];
	for (let first = 0; first < words.length; first += COLUMNS) {
		rows.push(words.slice(first, first + COLUMNS));
	}
	return rows;
}

/** Puts screens beside and below each other: a row for each list. */
function makeSheet(rows: readonly (readonly PixelCanvas[])[]): PixelCanvas {
	const width = Math.max(...rows.map((row) => row.reduce((sum, screen) => sum + screen.width + GAP, GAP)));
	const heights = rows.map((row) => Math.max(...row.map(({ height }) => height)) + GAP);
	const sheet = new PixelCanvas(
		width,
		heights.reduce((sum, height) => sum + height, GAP),
	);
	sheet.fillRectangle(sheet.makeColor(128, 128, 128), 0, 0, sheet.width, sheet.height);
	let y = GAP;
	for (const [at, row] of rows.entries()) {
		let x = GAP;
		for (const screen of row) {
			copy(screen, sheet, x, y);
			x += screen.width + GAP;
		}
		y += heights[at] as number;
	}
	return sheet;
}

function copy(from: PixelCanvas, to: PixelCanvas, x: number, y: number): void {
	for (let row = 0; row < from.height; row += 1) {
		from.pixels.copy(to.pixels, ((y + row) * to.width + x) * 4, row * from.width * 4, (row + 1) * from.width * 4);
	}
}
