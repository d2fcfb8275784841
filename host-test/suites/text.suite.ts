import { MAX_JSON_DEPTH, parseJson } from "../../src/text/parse-json.js";
import { utf8Length } from "../../src/text/utf8.js";
import { equal, suite, throws } from "../harness.js";

const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

export default suite("text", {
	"parses JSON down to its limit, and no deeper"() {
		equal(parseJson(nested(MAX_JSON_DEPTH)), JSON.parse(nested(MAX_JSON_DEPTH)));
		throws(() => parseJson(nested(MAX_JSON_DEPTH + 1)), /deeper than 32/);
		throws(() => parseJson('[{"a":'.repeat(17)), /deeper than 32/);
		throws(() => parseJson("[".repeat(60_000)), /deeper than 32/);
	},
	"counts depth, not brackets"() {
		const wide = JSON.stringify(Array.from({ length: 500 }, () => ({ a: [1] })));
		equal(JSON.stringify(parseJson(wide)), wide);
		const quoted = JSON.stringify({ a: `${"[{".repeat(100)}\\"${"[".repeat(100)}` });
		equal(JSON.stringify(parseJson(quoted)), quoted);
	},
	"tells the length of UTF-8"() {
		for (const text of ["", "a", "é", "日本語", "😀", 'mixed é 日 😀 "\\']) {
			equal(utf8Length(text), ArrayBuffer.fromString(text).byteLength, text);
		}
	},
});
