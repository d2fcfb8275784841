import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { FaceScreen } from "xs-mcp-firmware/screen/face-screen";
import type { GlyphSet } from "xs-mcp-virtual-device/bm-font";
import { fontOf, PixelCanvas } from "xs-mcp-virtual-device/drawn-screen";
import { FakeTimer } from "../../../host-test/doubles/fake-timer.js";

const SENTENCES = 3_000;
const SEED = 22;

const PIECES = {
	zh: "今天|明天|慕尼黑|天气很好|最高气温25°C|可能有雷阵雨|出门请记得|「带伞」|嗯|祝你愉快|客厅的灯|已经打开了|音量|调到百分之三十|还有什么|需要我帮忙|吗|警告|电池电量不足|请充电|《新闻联播》|正在播放|下一首|三分钟后|提醒你喝水|，|。|！|？|：|、|…|——|哈哈|谢谢|不客气",
	ja: "今日は|明日の|ミュンヘン|とても良い天気|最高気温は25℃|です|雷雨に|ちょっと|ご注意ください|「カーテン」|を開けましょうか|電気を|つけました|音量を|三十パーセント|に設定しました|バッテリー残量が|少なくなっています|タイマー|三分後に|お知らせします|ありがとう|どういたしまして|ニュース|〜|・|、|。|！|？|ー|ヴァイオリン|ぎゅうにゅう",
	de: "In München |ist es heute schön, |bis 25 °C. |Nachmittags |gibt es Wärmegewitter: |bitte |Regenschirm mitnehmen, |Grüße! |Die Lampe |im Wohnzimmer |ist jetzt an. |Möchten Sie |„Für Elise“ |hören? |Lautstärke 30 % |– fertig. |Süßigkeiten |3,50 € |Übermorgen |größer als |Straße |§ 5 |2 × 3 ",
	ru: "Сегодня |в Мюнхене |хорошая погода, |до 25 °C. |Днём |возможна гроза: |возьмите, |пожалуйста, |зонт! |Свет |в гостиной |включён. |Громкость |30 %. |Объём |ещё |№ 7 |«Щелкунчик» |подъезд |съешь |этих мягких булок |эхо — |юный жираф",
} as const;

type Language = keyof typeof PIECES;

/** The smallest sets that have all characters of a language. */
const SETS: Readonly<Record<Language, readonly GlyphSet[]>> = {
	zh: ["zh-hans", "cjk"],
	ja: ["ja", "cjk"],
	de: ["latin", "ja", "zh-hans", "cjk"],
	ru: ["latin", "ja", "zh-hans", "cjk"],
};

const piece = (...languages: readonly Language[]) =>
	fc.constantFrom(...languages.flatMap((language) => PIECES[language].split("|")));

const sentence = fc
	.oneof(
		...(Object.keys(SETS) as Language[]).map((language) =>
			fc.record({ pieces: pieces(language), set: fc.constantFrom(...SETS[language]) }),
		),
		fc.record({ pieces: pieces("zh", "ja", "de", "ru"), set: fc.constant<GlyphSet>("cjk") }),
	)
	.map(({ pieces, set }) => ({ text: pieces.join("").trim(), set }));

function pieces(...languages: readonly Language[]) {
	return fc.array(piece(...languages), { minLength: 3, maxLength: 8 });
}

/** A screen that keeps its words, and draws nothing. */
class WordsCanvas extends PixelCanvas {
	readonly #words = new Map<number, string>();

	/** From the top. */
	get words(): string {
		return [...this.#words]
			.sort(([one], [other]) => one - other)
			.map(([, text]) => text)
			.join("");
	}

	override fillRectangle(): void {}
	override blendRectangle(): void {}
	override drawText(text: string, _font: unknown, _color: number, _x: number, y: number): void {
		this.#words.set(y, text);
	}
}

function shown(text: string, set: GlyphSet): string {
	const canvas = new WordsCanvas(240, 960);
	const timer = new FakeTimer();
	const screen = new FaceScreen({ canvas, font: fontOf(`glyphs-${set}`), timer });
	screen.show({ state: "speaking", message: text });
	timer.pass(40);
	screen.close();
	return canvas.words;
}

const withoutSpaces = (text: string): string => text.replaceAll(/\s/gu, "");

it(`a face shows ${SENTENCES} sentences in Chinese, Japanese, German and Russian without a missing glyph`, () => {
	fc.assert(
		fc.property(sentence, ({ text, set }) => {
			assert.equal(withoutSpaces(shown(text, set)), withoutSpaces(text), set);
		}),
		{ seed: SEED, numRuns: SENTENCES },
	);
	assert.equal(shown("今天 heute", "latin"), "□□ heute", "what is missing is seen");
});
