import { breakLines, visibleText, widthOf } from "../../src/screen/line-breaks.js";
import { layOutPages } from "../../src/screen/text-pages.js";
import { equal, ok, suite } from "../harness.js";

/** A font of 8 pixels a letter and 16 an ideograph, without emoji, Thai and marks that combine. */
function measure(character: string): number {
	const code = character.codePointAt(0) ?? 0;
	if (
		code < 0x20 ||
		(code >= 0xd800 && code < 0xe000) ||
		(code >= 0xfe00 && code < 0xff00) ||
		(code >= 0x300 && code < 0x370) ||
		(code >= 0xe00 && code < 0xe80) ||
		code > 0xffff
	) {
		return 0;
	}
	return code >= 0x2000 && (code < 0x200b || code > 0x200f) && code !== 0xfe0f ? 16 : code < 0x2000 ? 8 : 0;
}

const lines = (text: string, width: number): readonly string[] => breakLines(text, width, measure);

const SENTENCES = [
	"今天天气很好，最高25度。（明天）「下雨」吗？会的！",
	"今日はとても良い天気です。「最高気温」は25℃、でしょうか？ちょっとカーテンを…",
	"Grüße aus München: 25 °C, Donaudampfschifffahrtsgesellschaftskapitän – schön!",
	"Сегодня хорошая погода, до 25 градусов. Καλημέρα κόσμε!",
	"用Node.js写的MCP server，地址是 https://example.com/some/long/path 。",
];

export default suite("lines of text", {
	"break after spaces, which do not appear at their ends"() {
		equal(lines("The quick  brown fox", 80), ["The quick", "brown fox"]);
		equal(lines("one two ", 24), ["one", "two"]);
	},
	"break between ideographs and kana, and between these and words"() {
		equal(lines("今天天气很好", 48), ["今天天", "气很好"]);
		equal(lines("用Node写", 48), ["用Node", "写"]);
		equal(lines("カタカナと漢字", 64), ["カタカナ", "と漢字"]);
		equal(lines("中abc", 32), ["中", "abc"]);
	},
	"do not begin with what closes or continues, nor end with what opens"() {
		equal(lines("你好你好。吗", 64), ["你好你", "好。吗"]);
		equal(lines("他说「你好」吗", 48), ["他说", "「你", "好」吗"]);
		equal(lines("すごくちょっと", 64), ["すごく", "ちょっと"]);
		equal(lines("中文——你好", 48), ["中文", "——你", "好"]);
		for (const sentence of SENTENCES) {
			for (let width = 64; width <= 320; width += 8) {
				for (const line of lines(sentence, width).slice(1)) {
					ok(!"、。，！？」）ょっー℃…".includes(line.charAt(0)), `${line} begins a line of ${width} pixels`);
				}
				for (const line of lines(sentence, width).slice(0, -1)) {
					ok(!"「（".includes(line.at(-1) ?? ""), `${line} ends at ${width} pixels`);
				}
			}
		}
	},
	"end within a word that is too wide, one character earlier before a full stop"() {
		equal(lines("abcdef", 24), ["abc", "def"]);
		equal(lines("abc.", 24), ["ab", "c."]);
		equal(lines("ab.", 16), ["a", "b."]);
		equal(lines("a.", 8), ["a", "."]);
	},
	"keep every character, and fit"() {
		for (const sentence of SENTENCES) {
			for (let width = 16; width <= 320; width += 8) {
				const broken = lines(sentence, width);
				equal(broken.join("").replaceAll(" ", ""), sentence.replaceAll(" ", ""));
				for (const line of broken) {
					ok(line !== "" && widthOf(line, measure) <= width, `"${line}" in ${width} pixels`);
				}
			}
		}
	},
	"cut a word that is wider than a line, and end if not even a character fits"() {
		equal(lines("Donaudampf schiff", 48), ["Donaud", "ampf", "schiff"]);
		equal(lines("天气", 10), ["天", "气"]);
	},
	"break after a hyphen, but not before a number or between two"() {
		equal(lines("Wi-Fi-Netz", 56), ["Wi-Fi-", "Netz"]);
		equal(lines("bei -5 Grad", 56), ["bei -5", "Grad"]);
		equal(lines("a --help", 40), ["a", "--hel", "p"]);
	},
	"break at line feeds, without empty lines"() {
		equal(lines("one\r\n\n two\n", 320), ["one", " two"]);
		equal(lines("", 320), []);
	},
	"show a box for what the font lacks, and nothing for what has no shape"() {
		equal(visibleText("a😀ไทยe\u0301", measure), "a□□□□e□");
		equal(visibleText("\u200b\ufeffa\u0007\ufe0f\tb\ud800", measure), "a b□");
		const ascii = visibleText("a😀", (character) => (character < "\u007f" ? 8 : 0));
		equal(ascii, "a?");
	},
	"of an alert come before those of the message, in pages that hold all of both"() {
		const alert = { status: "警告", message: "电池电量低" };
		const said = { message: SENTENCES[0] ?? "", alert };
		const pages = layOutPages(said, { width: 80, lines: 3 }, measure);
		const shown = pages.flatMap((page) => page.lines);
		const textOf = (isAlert: boolean): string =>
			shown
				.filter((line) => line.isAlert === isAlert)
				.map(({ text }) => text)
				.join("");
		equal([textOf(true), textOf(false)], ["警告: 电池电量低", said.message]);
		ok(pages.every((page) => page.lines.length <= 3 && page.readingTime >= 1_500));
		ok(shown.findIndex(({ isAlert }) => !isAlert) === shown.filter(({ isAlert }) => isAlert).length);
		equal(layOutPages({ message: "", alert: { status: "", message: "" } }, { width: 80, lines: 3 }, measure).length, 1);
	},
});
