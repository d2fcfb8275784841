import { drawFaceOf } from "../../virtual-device/src/services/drawn-screen.js";
import { PixelCanvas } from "../../virtual-device/src/services/pixel-canvas.js";

/** Pixels of the screens of boards, the smallest first. */
const SIZES = [
	[128, 128],
	[135, 240],
	[170, 320],
	[240, 240],
	[320, 240],
] as const;

/** The same in Chinese, Japanese, German and Russian, longer than a page of the small screens. */
const MESSAGES = [
	"今天慕尼黑天气很好，最高气温25°C。（下午可能有雷阵雨，）出门请记得「带伞」！嗯，祝你愉快。",
	"今日のミュンヘンはとても良い天気で、最高気温は25℃です。「カーテン」を開けましょうか？午後は雷雨にちょっとご注意ください。",
	"In München ist es heute schön, bis 25 °C. Nachmittags gibt es Wärmegewitter: bitte Regenschirm mitnehmen, Grüße!",
	"Сегодня в Мюнхене хорошая погода, до 25 °C. Днём возможна гроза: возьмите, пожалуйста, зонт!",
] as const;

const GAP = 8;

/** All messages on all screens: a row for each message, a column for each size. */
export function drawTexts(): PixelCanvas {
	const rowHeight = Math.max(...SIZES.map(([, height]) => height)) + GAP;
	const width = SIZES.reduce((sum, [each]) => sum + each + GAP, GAP);
	const sheet = new PixelCanvas(width, rowHeight * MESSAGES.length + GAP);
	sheet.fillRectangle(sheet.makeColor(128, 128, 128), 0, 0, sheet.width, sheet.height);
	for (const [row, message] of MESSAGES.entries()) {
		let x = GAP;
		for (const [screenWidth, height] of SIZES) {
			const state = { state: "speaking", backend: "ws://gateway.local/", connected: true, emotion: "happy", message };
			const screen = drawFaceOf({ width: screenWidth, height, brightness: 100, theme: "dark", ...state });
			copy(screen, sheet, x, GAP + row * rowHeight);
			x += screenWidth + GAP;
		}
	}
	return sheet;
}

function copy(from: PixelCanvas, to: PixelCanvas, x: number, y: number): void {
	for (let row = 0; row < from.height; row += 1) {
		from.pixels.copy(to.pixels, ((y + row) * to.width + x) * 4, row * from.width * 4, (row + 1) * from.width * 4);
	}
}
