import { SETTINGS } from "../../src/core/settings-table.js";
import { LANGUAGES } from "../../src/features/language.js";
import { FakeBoard } from "../doubles/fake-board.js";
import { inSession } from "../doubles/started-application.js";
import { equal, ok, suite } from "../harness.js";

const placeholders = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).sort();

export default suite("the language of the device's own words", {
	"is one of those that have all words, with the same placeholders"() {
		equal(Object.keys(LANGUAGES), SETTINGS.language.choices);
		for (const [language, words] of Object.entries(LANGUAGES)) {
			equal(Object.keys(words).sort(), Object.keys(LANGUAGES.en).sort(), language);
			for (const [key, text] of Object.entries(words)) {
				ok(text.trim() !== "", `${language}: ${key}`);
				equal(placeholders(text), placeholders(LANGUAGES.en[key as keyof typeof LANGUAGES.en]), `${language}: ${key}`);
			}
		}
	},
	"is that of alerts, and of the words that the screen gets"() {
		for (const [language, status] of [
			["ja", "更新に失敗しました"],
			["zh", "更新失败"],
			["en", "Update failed"],
		] as const) {
			const board = new FakeBoard();
			const { application } = inSession(board, {}, { built: { language } });
			application.alert("updateFailed", "404");
			const face = Object.assign({}, ...board.shown);
			equal([face.words?.updateFailed, face.alert], [status, { status, message: "404" }]);
		}
	},
	"is missing in a build without words: an alert shows only its message"() {
		const { application, board } = inSession(undefined, {}, { features: [] });
		application.alert("updateFailed", "404");
		equal(Object.assign({}, ...board.shown).alert, { status: "", message: "404" });
	},
});
