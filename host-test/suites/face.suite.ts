import { LANGUAGES } from "../../src/features/language.js";
import { emotionWords, lookOf } from "../../src/screen/emotions.js";
import { FakeCanvas, makeFace } from "../doubles/fake-canvas.js";
import { equal, given, ok, suite } from "../harness.js";

const SIZES = [
	[128, 128],
	[135, 240],
	[240, 240],
	[320, 240],
	[170, 320],
	[240, 135],
] as const;

function face(backlight?: { brightness: number }, canvas?: FakeCanvas) {
	const made = makeFace(backlight && { backlight }, canvas);
	made.screen.show({ words: LANGUAGES.en });
	return made;
}

const texts = ({ texts }: FakeCanvas): string[] => texts.map(({ text }) => text);
const wordsOf = (canvas: FakeCanvas): string =>
	texts(canvas)
		.filter((text) => text.startsWith("word"))
		.join(" ");
const background = ({ rectangles }: FakeCanvas): string => rectangles[0]?.color ?? "";

export default suite("the face on the screen", {
	"says nothing while all is as it should be": given(face, ({ screen, draw }) => {
		screen.show({ state: "idle", backend: "wss://gateway.local/xs", connected: true, volume: 30 });
		equal(texts(draw()), []);
		screen.show({ state: "speaking" });
		equal(texts(draw()), []);
	}),
	"says at once that the device is offline, connects, listens, is updated or set up"() {
		const { screen, draw } = face();
		for (const [change, expected] of [
			[{ state: "idle", online: false }, "Offline"],
			[{ state: "connecting", online: true }, "Connecting"],
			[{ state: "listening" }, "Listening"],
			[{ state: "upgrading" }, "Updating"],
			[{ online: false }, "Updating"],
			[{ state: "wifi_configuring" }, "Set-up"],
			[{ state: "fatal_error" }, "Error"],
		] as const) {
			screen.show(change);
			equal(texts(draw()), [expected]);
		}
	},
	"says so in the device's language, and nothing before it is known": given(face, ({ screen, draw }) => {
		screen.show({ words: LANGUAGES.ja, state: "listening" });
		equal(texts(draw()), [LANGUAGES.ja.listening]);
		screen.show({ words: undefined });
		equal(texts(draw()), []);
	}),
	"shows state and backend in the firmware's words only to somebody who asks": given(face, ({ screen, draw }) => {
		screen.show({ state: "idle", backend: "wss://gateway.local/xs", connected: true, details: true });
		equal(texts(draw()), ["idle gateway.local"]);
		screen.show({ connected: false });
		equal(texts(draw()), ["idle ! gateway.local"]);
		screen.show({ details: false });
		equal(texts(draw()), []);
	}),
	"shows battery and Wi-Fi as icons, and what they change alone": given(face, ({ screen, draw }) => {
		draw();
		for (const change of [
			{ battery: { level: 80, charging: false } },
			{ battery: { level: 80, charging: true } },
			{ signal: 2 },
			{ signal: 3 },
		]) {
			screen.show(change);
			equal(draw().pixels, 320 * 26);
			screen.show(change);
			equal(draw().pixels, 0);
		}
	}),
	"shows volume and brightness only while they are set"() {
		const { screen, draw, timer, canvas } = face({ brightness: 0 });
		screen.brightness = 40;
		screen.show({ state: "idle", volume: 30 });
		draw();
		for (const set of [() => screen.show({ volume: 40 }), () => (screen.brightness = 60)]) {
			set();
			equal(draw().pixels, 320 * 32);
			canvas.forget();
			timer.pass(1_990);
			const pixels = canvas.areas
				.filter(({ width }) => width === 320)
				.reduce((sum, { height }) => sum + 320 * height, 0);
			equal(pixels, 320 * 32);
		}
		screen.show({ volume: 40 });
		equal(draw().pixels, 0);
	},
	"draws nothing for what is not changed": given(face, ({ screen, draw }) => {
		const same = { state: "idle", emotion: "happy", online: true, alert: { status: "", message: "" } };
		screen.show(same);
		draw();
		screen.show({ ...same, alert: { status: "", message: "" } });
		screen.show({ connected: true, backend: "ws://h/" });
		screen.theme = "light";
		equal(draw().pixels, 0);
	}),
	"gathers changes that come together into one drawing": given(face, ({ screen, draw }) => {
		draw();
		for (let at = 0; at <= 100; at += 1) {
			screen.show({ message: `message ${at}`, emotion: "sad", state: "listening" });
		}
		equal(draw().pixels, 320 * 240);
		equal(texts(draw()), ["Listening", "message 100"]);
	}),
	"on a small screen shows a status without icons, and no text over another"() {
		const { screen, draw } = face(undefined, new FakeCanvas(128, 128));
		const alert = { status: "battery", message: "is low" };
		screen.show({ state: "connecting", signal: 3, battery: { level: 50, charging: false }, message: "hello", alert });
		const [status, ...words] = draw().texts;
		equal(status?.text, "Connecting");
		ok(words.length > 0 && words.every(({ y }) => y >= 26));
	},
	"shows a code in the place of the face, in the middle, and the face again without it"() {
		const { screen, draw } = face();
		screen.show({ message: "Go to the page" });
		const withFace = draw().rectangles.length;
		screen.show({ code: "123456" });
		const { texts: shown, rectangles } = draw();
		const code = shown.find(({ text }) => text === "123456");
		equal([code?.x, rectangles.length < withFace], [130, true]);
		ok(shown.some(({ text }) => text === "Go to the page"));
		screen.show({ code: "" });
		equal(draw().rectangles.length, withFace);
	},
	"shows a code in the large font only if that has all its characters"() {
		const large = { height: 54 };
		class DigitsCanvas extends FakeCanvas {
			fonts: unknown[] = [];

			override getTextWidth(text: string, font?: { readonly height: number }): number {
				return font === large ? 10 * text.replace(/\D/g, "").length : super.getTextWidth(text);
			}

			override drawText(...drawing: Parameters<FakeCanvas["drawText"]>): void {
				super.drawText(...drawing);
				this.fonts.push(drawing[0].includes("123") ? drawing[1] : undefined);
			}
		}
		const font = { height: 20 };
		const { canvas, timer, screen } = makeFace({ font, codeFont: large }, new DigitsCanvas());
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
	"breaks a message between words": given(face, ({ screen, draw }) => {
		screen.show({ message: "twenty-six characters here and the rest of it in the second line" });
		const [first, second] = texts(draw());
		equal([first, second], ["twenty-six characters here and", "the rest of it in the second"]);
	}),
	"shows all of a long message, page by page, and then again, beside the face, on every size of screen"() {
		const message = Array.from({ length: 60 }, (_, at) => `word${at}`).join(" ");
		for (const [width, height] of SIZES) {
			const { screen, draw, timer, canvas } = face(undefined, new FakeCanvas(width, height));
			screen.show({ message });
			const pages = [wordsOf(draw())];
			do {
				canvas.forget();
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
		const { screen, draw, timer, canvas } = face();
		screen.show({ message: "word ".repeat(100) });
		draw();
		screen.show({ message: "short" });
		equal(texts(draw()), ["short"]);
		timer.pass(60_000);
		equal(texts(canvas), ["short"]);
	},
	"leaves the room to the face when an idle device has shown a message long enough"() {
		const { screen, draw, timer, canvas } = face();
		screen.show({ message: "hello", state: "speaking" });
		timer.pass(31_000);
		equal(texts(canvas), ["hello"]);
		screen.show({ state: "idle" });
		timer.pass(29_000);
		equal(texts(canvas), ["hello"]);
		timer.pass(1_100);
		equal(texts(canvas), []);
		screen.show({ message: "hello" });
		equal(texts(draw()), ["hello"]);
	},
	"does not choke on a very long message": given(face, ({ canvas, screen, draw }) => {
		screen.show({ message: "a b ".repeat(1_000), alert: { status: "", message: "c ".repeat(1_000) } });
		draw();
		ok(canvas.measured < 40_000, `${canvas.measured} characters measured`);
	}),
	"clears all of an alert's panel, which is a little higher than its words": given(face, ({ screen, draw }) => {
		screen.show({ alert: { status: "Battery", message: "low" } });
		const panel = draw().rectangles.filter(({ color }) => color === "204,48,52");
		screen.show({ alert: { status: "", message: "" }, message: "hello" });
		const [first] = draw().areas;
		ok(first !== undefined && panel.every(({ y }) => y >= first.y), `${first?.y}`);
		equal(first?.width, 320);
	}),
	"shows an alert across the screen, and nothing if the alert is empty": given(face, ({ screen, draw }) => {
		screen.show({ alert: { status: "Battery", message: "almost empty" } });
		ok(texts(draw()).includes("Battery: almost empty"));
		screen.show({ alert: { status: "", message: "" } });
		equal(texts(draw()), []);
	}),
	"looks different for each of the family's 21 emotions, and neutral for other words"() {
		const drawn = (emotion: string): string => {
			const { screen, draw } = face();
			screen.show({ emotion });
			return JSON.stringify(draw().rectangles);
		};
		equal(new Set(emotionWords().map(drawn)).size, 21);
		equal([drawn("no such emotion"), drawn("Happy")], [drawn("neutral"), drawn("happy")]);
	},
	"knows the emoji that backends send for an emotion, and the pictures of their alerts"() {
		for (const [text, emotion] of [
			["😊", "happy"],
			["😭!", "crying"],
			["circle_xmark", "sad"],
		] as const) {
			equal(lookOf(text), lookOf(emotion));
		}
	},
	"has no more to draw at a time than Poco's list has room for"() {
		for (const [width, height] of [
			[128, 128],
			[320, 240],
		] as const) {
			const { screen, draw, canvas } = face(undefined, new FakeCanvas(width, height));
			screen.show({ message: "W".repeat(512), alert: { status: "Battery", message: "m" } });
			draw();
			screen.show({ message: "", alert: { status: "", message: "" } });
			for (const emotion of emotionWords()) {
				screen.show({ emotion });
				draw();
			}
			ok(canvas.mostBytes <= 4_600, `${canvas.mostBytes} bytes on ${width} x ${height}`);
		}
	},
	"is light or dark, as its theme says"() {
		const { screen, draw } = face({ brightness: 0 });
		screen.theme = "light";
		const light = background(draw());
		screen.theme = "dark";
		equal([light, background(draw()), screen.theme], ["250,249,246", "17,20,29", "dark"]);
	},
	"sets the backlight if the board has one"() {
		const backlight = { brightness: 0 };
		const { screen, draw } = face(backlight);
		equal(backlight.brightness, 75);
		screen.brightness = 20;
		equal([backlight.brightness, screen.brightness, background(draw())], [20, 20, "250,249,246"]);
	},
	"dims its colours if there is no backlight, but never to black": given(face, ({ screen, draw }) => {
		const backgrounds = [100, 50, 0].map((brightness) => {
			screen.brightness = brightness;
			return background(draw());
		});
		equal(backgrounds, ["250,249,246", "144,143,141", "38,37,37"]);
	}),
	"draws no more once it is closed": given(face, ({ canvas, screen, timer, draw }) => {
		draw();
		canvas.forget();
		screen.show({ state: "idle", message: "word ".repeat(100), volume: 1 });
		screen.show({ volume: 2 });
		screen.close();
		timer.pass(100_000);
		equal([canvas.pixels, timer.size], [0, 0]);
	}),
});
