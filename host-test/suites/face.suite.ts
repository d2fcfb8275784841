import { FaceScreen } from "../../src/pictures/face-screen.js";
import { FakeCanvas } from "../doubles/fake-canvas.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { equal, ok, suite } from "../harness.js";

function face(backlight?: { brightness: number }, canvas = new FakeCanvas()) {
	const timer = new FakeTimer();
	const screen = new FaceScreen({ canvas, font: { height: 20 }, timer, ...(backlight && { backlight }) });
	const draw = (): FakeCanvas => {
		timer.pass(100);
		return canvas;
	};
	return { canvas, timer, screen, draw };
}

const texts = ({ texts }: FakeCanvas): string[] => texts.map(({ text }) => text);
/** The words of a message: each begins with "word". */
const wordsOf = (canvas: FakeCanvas): string =>
	texts(canvas)
		.filter((text) => text.startsWith("word"))
		.join(" ");
const background = ({ rectangles }: FakeCanvas): string => rectangles[0]?.color ?? "";

export default suite("the face on the screen", {
	"shows state, backend, volume and brightness"() {
		const { screen, draw } = face();
		screen.show({ state: "idle", backend: "wss://gateway.local/xs", connected: true, volume: 30 });
		const shown = texts(draw());
		for (const text of ["idle", "gateway.local", "volume 30", "brightness 75"]) {
			ok(shown.includes(text), `${text} in ${JSON.stringify(shown)}`);
		}
	},
	"shows the brightness without its name where there is no room for it"() {
		const { screen, draw } = face(undefined, new FakeCanvas(240, 135));
		screen.show({ volume: 30 });
		const shown = texts(draw());
		ok(shown.includes("volume 30") && shown.includes("75%"), JSON.stringify(shown));
	},
	"shows no volume if there is no speaker"() {
		const { screen, draw } = face();
		screen.show({ state: "idle" });
		ok(!texts(draw()).some((text) => text.startsWith("volume")));
	},
	"tells a backend that is connected from one that is not by its colour"() {
		const { screen, draw } = face();
		const color = (connected: boolean): string | undefined => {
			screen.show({ backend: "ws://h:1/", connected });
			return draw().texts.find(({ text }) => text === "h:1")?.color;
		};
		ok(color(true) !== color(false));
	},
	"keeps what is not changed"() {
		const { screen, draw } = face();
		screen.show({ message: "hello" });
		screen.show({ state: "speaking" });
		const shown = texts(draw());
		ok(shown.includes("hello") && shown.includes("speaking"), shown.join("; "));
	},
	"gathers changes that come together into one drawing"() {
		const { canvas, timer, screen } = face();
		timer.pass(100);
		const before = canvas.drawings;
		for (let volume = 0; volume <= 100; volume += 1) {
			screen.show({ volume });
		}
		timer.pass(100);
		equal(canvas.drawings - before, 1);
		ok(texts(canvas).includes("volume 100"));
	},
	"on a small screen leaves out what has no room, and writes nothing over the state"() {
		const { screen, draw } = face(undefined, new FakeCanvas(128, 128));
		const alert = { status: "battery", message: "is low" };
		screen.show({ state: "wifi_configuring", backend: "wss://gateway.local/", volume: 30, message: "hello", alert });
		const { texts: shown } = draw();
		const state = shown.find(({ text }) => text === "wifi_configuring");
		ok(state?.y === 3 && shown.every(({ text, y, width }) => text === state.text || (y >= 26 && width > 0)));
		ok(!shown.some(({ text }) => text === "gateway.local"));
	},
	"shows a code in the place of the face, in the middle, and the face again without it"() {
		const { screen, draw } = face();
		const faceless = draw().rectangles.length;
		screen.show({ code: "123456", message: "Go to the page" });
		const { texts, rectangles } = draw();
		const code = texts.find(({ text }) => text === "123456");
		equal([code?.x, faceless - rectangles.length > 0], [130, true]);
		ok(texts.some(({ text }) => text === "Go to the page"));
		screen.show({ code: "" });
		equal(draw().rectangles.length, faceless);
	},
	"shows a code in the large font only if that has all its characters"() {
		const large = { height: 54 };
		class DigitsCanvas extends FakeCanvas {
			fonts: unknown[] = [];

			override getTextWidth(text: string, font?: object): number {
				return font === large ? 10 * text.replace(/\D/g, "").length : super.getTextWidth(text);
			}

			override drawText(...drawing: Parameters<FakeCanvas["drawText"]>): void {
				super.drawText(...drawing);
				this.fonts.push(drawing[0].includes("123") ? drawing[1] : undefined);
			}
		}
		const canvas = new DigitsCanvas();
		const timer = new FakeTimer();
		const font = { height: 20 };
		const screen = new FaceScreen({ canvas, font, codeFont: large, timer });
		for (const [code, expected] of [
			["123456", large],
			["A-123", font],
		] as const) {
			canvas.fonts = [];
			screen.show({ code });
			timer.pass(100);
			ok(canvas.fonts.includes(expected), code);
			ok(texts(canvas).includes(code));
		}
	},
	"breaks a message between words"() {
		const { screen, draw } = face();
		screen.show({ message: "twenty-six characters here and the rest of it in the second line" });
		const [first, second] = texts(draw()).slice(1, 3);
		equal([first, second], ["twenty-six characters here and", "the rest of it in the second"]);
	},
	"shows all of a long message, page by page, and then again, beside the face, on every size of screen"() {
		const message = Array.from({ length: 120 }, (_, at) => `word${at}`).join(" ");
		for (const [width, height] of [
			[128, 128],
			[135, 240],
			[240, 240],
			[320, 240],
			[170, 320],
			[240, 135],
		] as const) {
			const { screen, draw, timer, canvas } = face(undefined, new FakeCanvas(width, height));
			screen.show({ message });
			const pages = [wordsOf(draw())];
			do {
				timer.pass(1_000);
				const page = wordsOf(canvas);
				if (page !== pages.at(-1)) {
					pages.push(page);
				}
				ok(
					canvas.texts.every(
						({ y, text }) => y + 20 <= height && (!text.startsWith("word") || 10 * text.length <= width),
					),
					`${width} x ${height}`,
				);
			} while (pages.length < 2 || pages.at(-1) !== pages[0]);
			equal(pages.slice(0, -1).join(" "), message);
		}
	},
	"does not turn the page of a message that fits, nor after the next message"() {
		const { screen, draw, timer } = face();
		screen.show({ message: "word ".repeat(100) });
		draw();
		equal(timer.size, 1);
		screen.show({ message: "short" });
		draw();
		equal(timer.size, 0);
	},
	"does not choke on a very long message"() {
		const { canvas, screen, draw } = face();
		screen.show({ message: "a b ".repeat(1_000), alert: { status: "", message: "c ".repeat(1_000) } });
		draw();
		ok(canvas.measured < 40_000, `${canvas.measured} characters measured`);
	},
	"shows an alert across the screen, and nothing if the alert is empty"() {
		const { screen, draw } = face();
		screen.show({ alert: { status: "Battery", message: "almost empty" } });
		ok(texts(draw()).includes("Battery: almost empty"));
		screen.show({ alert: { status: "", message: "" } });
		ok(!texts(draw()).some((text) => text.includes("almost")));
	},
	"draws another mouth for another emotion"() {
		const { screen, draw } = face();
		const drawings = ["happy", "sad", "surprised", "neutral", "no such emotion"].map((emotion) => {
			screen.show({ emotion });
			return JSON.stringify(draw().rectangles);
		});
		equal(new Set(drawings).size, 4);
		equal(drawings[3], drawings[4]);
	},
	"is light or dark, as its theme says"() {
		const { screen, draw } = face({ brightness: 0 });
		screen.theme = "light";
		const light = background(draw());
		screen.theme = "dark";
		equal([light, background(draw()), screen.theme], ["255,255,255", "16,18,24", "dark"]);
	},
	"sets the backlight if the board has one"() {
		const backlight = { brightness: 0 };
		const { screen, draw } = face(backlight);
		equal(backlight.brightness, 75);
		screen.brightness = 20;
		equal([backlight.brightness, screen.brightness, background(draw())], [20, 20, "255,255,255"]);
	},
	"dims its colours if there is no backlight, but never to black"() {
		const { screen, draw } = face();
		const backgrounds = [100, 50, 0].map((brightness) => {
			screen.brightness = brightness;
			return background(draw());
		});
		equal(backgrounds, ["255,255,255", "147,147,147", "38,38,38"]);
	},
	"draws no more once it is closed"() {
		const { canvas, screen, timer } = face();
		timer.pass(100);
		const before = canvas.drawings;
		screen.show({ state: "idle" });
		screen.close();
		timer.pass(100);
		equal([canvas.drawings, timer.size], [before, 0]);
	},
});
