import { LANGUAGES } from "../../src/features/language.js";
import type { QrCode } from "../../src/screen/setup-drawing.js";
import { FakeCanvas, makeFace } from "../doubles/fake-canvas.js";
import { equal, given, ok, suite } from "../harness.js";

class PartsCanvas extends FakeCanvas {
	readonly parts: { x: number; y: number; width: number; height: number; rectangles: FakeCanvas["rectangles"] }[] = [];
	allTexts: string[] = [];
	#part: readonly [number, number, number, number] = [0, 0, 0, 0];

	override begin(x = 0, y = 0, width = this.width, height = this.height): void {
		super.begin(x, y, width, height);
		this.rectangles = [];
		this.#part = [x, y, width, height];
	}

	override end(): void {
		super.end();
		const [x, y, width, height] = this.#part;
		this.parts.push({ x, y, width, height, rectangles: this.rectangles });
		this.allTexts.push(...this.texts.map(({ text }) => text));
	}
}

const SETUP = { ssid: "xs-mcp-56789a", password: "abcdefgh", url: "http://192.168.4.1/", progress: "" };

function code(size: number, isDark: (row: number, column: number) => boolean): QrCode {
	const bytes = new Uint8Array(size * size);
	for (let at = 0; at < bytes.length; at += 1) {
		bytes[at] = isDark(Math.floor(at / size), at % size) ? 1 : 0;
	}
	return Object.assign(bytes.buffer, { size });
}

function face(makeQrCode?: (options: { input: string }) => QrCode, size: { width?: number; height?: number } = {}) {
	const { canvas, timer, screen } = makeFace(makeQrCode && { makeQrCode }, Object.assign(new PartsCanvas(), size));
	timer.pass(100);
	canvas.parts.length = 0;
	canvas.allTexts = [];
	screen.show({ words: LANGUAGES.en });
	return { canvas, screen, draw: () => timer.pass(100) };
}

export default suite("the set-up on the screen", {
	"shows the network, its password and the page's address in words": given(face, ({ canvas, screen, draw }) => {
		screen.show({ setup: SETUP, state: "wifi_configuring" });
		draw();
		for (const text of ["Set-up", "xs-mcp-56789a", "abcdefgh", "192.168.4.1"]) {
			ok(canvas.allTexts.includes(text), `${text} in ${canvas.allTexts.join("; ")}`);
		}
	}),
	"shows what happens, and the face again once the set-up has ended": given(face, ({ canvas, screen, draw }) => {
		screen.show({ setup: { ...SETUP, progress: "Could not join home: wrong password, or out of range?" } });
		draw();
		ok(canvas.allTexts.includes("Could not join home: wrong"), canvas.allTexts.join("; "));
		screen.show({ setup: undefined, state: "connecting" });
		canvas.allTexts = [];
		draw();
		const texts = canvas.texts.map(({ text }) => text);
		equal(texts, ["Connecting"]);
	}),
	"shows a code by which a phone joins the network"() {
		const inputs: string[] = [];
		const isDark = (row: number, column: number): boolean => (row * 7 + column * 3) % 5 < 2;
		const { canvas, screen, draw } = face(({ input }) => {
			inputs.push(input);
			return code(29, isDark);
		});
		screen.show({ setup: SETUP });
		draw();
		equal(inputs, ["WIFI:T:WPA;S:xs-mcp-56789a;P:abcdefgh;;"]);
		const [words, ...bands] = canvas.parts;
		equal(words?.width, 320);
		// The code is drawn in bands that touch each other. Each starts with its white ground.
		const side = bands[0]?.width ?? 0;
		const heights = bands.reduce((sum, { height }) => sum + height, 0);
		equal(heights, side);
		const scale = side / 37;
		ok(Number.isInteger(scale) && scale >= 3, `${scale} pixels a module`);
		const [left, top] = [(bands[0]?.x ?? 0) + 4 * scale, (bands[0]?.y ?? 0) + 4 * scale];
		const dark = new Set<string>();
		for (const { rectangles, y, height } of bands) {
			equal(rectangles[0]?.color, "255,255,255");
			for (const run of rectangles.slice(1)) {
				ok(run.y >= y && run.y + run.height <= y + height, "a run is in its band");
				equal([run.color, run.height], ["0,0,0", scale]);
				for (let x = run.x; x < run.x + run.width; x += scale) {
					dark.add(`${(run.y - top) / scale},${(x - left) / scale}`);
				}
			}
			ok(rectangles.length <= 60, `${rectangles.length} rectangles at a time`);
		}
		for (let row = 0; row < 29; row += 1) {
			for (let column = 0; column < 29; column += 1) {
				equal(dark.has(`${row},${column}`), isDark(row, column), `${row},${column}`);
			}
		}
	},
	"has room for code and words on an upright screen, and leaves out a code that is too small to be read"() {
		for (const [width, height, scale] of [
			[240, 320, 4],
			[135, 240, 2],
			[160, 80, 0],
		] as const) {
			const { canvas, screen, draw } = face(() => code(29, () => true), { width, height });
			screen.show({ setup: SETUP });
			draw();
			equal(canvas.parts[1]?.width ?? 0, scale * 37, `${width} x ${height}`);
			equal(canvas.allTexts.includes("192.168.4.1"), height > 100, `${width} x ${height}`);
		}
	},
	"has the words alone if there is no code for the network"() {
		const { canvas, screen, draw } = face(() => {
			throw new Error("qrcode failed");
		});
		screen.show({ setup: SETUP });
		draw();
		equal(canvas.parts.length, 1);
	},
	"quotes what has a meaning in the text of a code"() {
		const inputs: string[] = [];
		const { screen, draw } = face(({ input }) => {
			inputs.push(input);
			return code(29, () => true);
		});
		screen.show({ setup: { ...SETUP, ssid: 'a;b,c:"d"\\', password: "" } });
		draw();
		equal(inputs, ['WIFI:T:nopass;S:a\\;b\\,c\\:\\"d\\"\\\\;;']);
	},
});
