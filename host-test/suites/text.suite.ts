import { fromHex, toHex } from "../../src/core/text/hex.js";
import { isObject, PiecedText, parseJson } from "../../src/core/text/json.js";
import { MessageAssembler, type MessageRejected } from "../../src/core/text/message-assembler.js";
import { utf8Length } from "../../src/core/text/utf8.js";
import { equal, ok, suite, throws } from "../harness.js";

const toBytes = (text: string): ArrayBuffer => ArrayBuffer.fromString(text);
const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

function deep(levels: number, pairs: readonly (readonly [string, string])[]): string {
	let json = "0";
	for (let level = 0; level < levels; level += 1) {
		const [open, close] = pairs[level % pairs.length] as readonly [string, string];
		json = open + json + close;
	}
	return json;
}

const ARRAY = ["[", "]"] as const;
const OBJECT = ['{"a":', "}"] as const;

export default suite("text", {
	"parses 31 and 32 levels and rejects 33, of arrays, of objects, of both in turn"() {
		for (const pairs of [[ARRAY], [OBJECT], [ARRAY, OBJECT], [OBJECT, ARRAY]]) {
			for (const levels of [31, 32]) {
				equal(JSON.stringify(parseJson(deep(levels, pairs))), deep(levels, pairs));
			}
			throws(() => parseJson(deep(33, pairs)), /^nested deeper than 32 levels$/);
		}
	},
	"counts values before it parses them, outside strings"() {
		equal((parseJson(`[${"0,".repeat(98)}0]`, 99) as number[]).length, 99);
		throws(() => parseJson(`[${"0,".repeat(99)}0]`, 99), /^100 values \(limit 99\)$/);
		throws(() => parseJson(`[${"[],".repeat(60)}[]]`, 99), /^122 values/);
		throws(() => parseJson(`{"a":[${"{},".repeat(60)}{}]}`, 99), /^123 values/);
		const text = '[{,"\\'.repeat(100);
		equal(parseJson(JSON.stringify([text]), 3), [text]);
	},
	"counts depth, not brackets"() {
		const wide = JSON.stringify(Array.from({ length: 500 }, () => ({ a: [1] })));
		equal(JSON.stringify(parseJson(wide)), wide);
		const quoted = JSON.stringify({ a: `${"[{".repeat(100)}\\"${"[".repeat(100)}` });
		equal(JSON.stringify(parseJson(quoted)), quoted);
	},
	"takes brackets for text just where they stand in a string"() {
		const brackets = "[{".repeat(40);
		for (const text of [`"${brackets}`, `\\${brackets}`, `\\"${brackets}\\`, `\u2028${brackets}`, `${brackets}"`]) {
			const json = JSON.stringify({ [text]: text });
			equal(parseJson(json), { [text]: text }, json);
		}
		equal(parseJson(`["\\u0022${brackets}"]`), [`"${brackets}`]);
		for (const ended of ['"\\\\"', '"\\"\\\\"', '"\\u005c"']) {
			throws(() => parseJson(`[${ended},${nested(32)}]`), /deeper than 32/);
		}
	},
	"rejects text that is not JSON with a syntax error, deep or not"() {
		for (const text of [
			"",
			"[",
			"]".repeat(100) + "[".repeat(20),
			`"${"[".repeat(100)}`,
			`${nested(20)}${nested(20)}`,
		]) {
			equal(throws(() => parseJson(text), /./) instanceof SyntaxError, true, text);
		}
	},
	"puts a text together from its pieces, a part at a time"() {
		for (const pieces of [[], ["a"], ["a", "b", "c"], Array.from({ length: 9 }, (_, at) => `${at}`.repeat(500))]) {
			const whole = `[${pieces.join(",")}]`;
			const text = new PiecedText("[", pieces.map(toBytes), "]", whole.length);
			equal(String(text), whole);
			let taken = "";
			while (taken.length < whole.length) {
				const part = text.take();
				ok(part.byteLength <= 1_100, `${part.byteLength} bytes at once`);
				taken += String.fromArrayBuffer(part);
			}
			equal(taken, whole);
		}
	},
	"reads and writes bytes as pairs of hexadecimal digits, all of the text or nothing"() {
		const bytes = Uint8Array.of(0, 1, 0x7f, 0x80, 0xff);
		equal(toHex(bytes.buffer), "00017f80ff");
		equal(fromHex("00017F80fF"), bytes.buffer);
		equal(fromHex(""), new ArrayBuffer(0));
		for (const text of ["0", "000", "0g", "0x00", " 00"]) {
			equal(fromHex(text), undefined, text);
		}
	},
	"takes about a kilobyte of short pieces at a time, at most 16, as each takes a part of the stack"() {
		for (const [piece, first, second] of [
			["x".repeat(99), 1 + 10 * 100, 1_000],
			["5", 1 + 16 * 2, 16 * 2],
		] as const) {
			const pieces = Array.from({ length: 100 }, () => toBytes(piece));
			const text = new PiecedText("[", pieces, "]", 1 + 100 * (piece.length + 1));
			equal([text.take().byteLength, text.take().byteLength], [first, second]);
		}
	},
	"takes pieces of more than a part one at a time"() {
		const pieces = ["a", "b", "c", "d"].map((letter) => letter.repeat(3_000));
		const text = new PiecedText("[", pieces.map(toBytes), "]", 12_005);
		const take = (): string => String.fromArrayBuffer(text.take());
		equal(take(), `[${pieces[0]},`);
		equal([take(), take(), take()], [`${pieces[1]},`, `${pieces[2]},`, `${pieces[3]}]`]);
	},
	"keeps the start of a message that is too long, if it is UTF-8"() {
		for (const [message, start] of [
			["abcdefghijkl", "abcdefghijkl"],
			["abc日本語", "abc"],
			["日本語日本語", ""],
			["日本語abcdefgh", "日本語abcdefgh"],
			["ab\u007fcdefghijkl", "ab\u007fcdefghijkl"],
			["x".repeat(2_100), "x".repeat(2_048)],
		] as const) {
			const append = () => new MessageAssembler(10).append(ArrayBuffer.fromString(message), false);
			equal((throws(append, /^\d+ bytes \(limit 10\)$/) as MessageRejected).start, start);
		}
		// A continuation byte alone is not UTF-8.
		for (const [byte, start] of [
			[0, "a"],
			[0x80, ""],
		] as const) {
			const bytes = Uint8Array.of(0x61, byte, 0x61, 0x61).buffer;
			const rejected = throws(() => new MessageAssembler(3).append(bytes, false), /^4 bytes/);
			equal((rejected as MessageRejected).start, start);
		}
		const assembler = new MessageAssembler(10);
		assembler.append(ArrayBuffer.fromString("abcdef"), true);
		assembler.append(ArrayBuffer.fromString("ghijkl"), true);
		const rejected = throws(() => assembler.append(new ArrayBuffer(0), false), /^12 bytes/);
		equal((rejected as MessageRejected).start, "abcdef");
	},
	"takes a message in one part as it is, without a copy"() {
		const message = ArrayBuffer.fromString("whole");
		ok(new MessageAssembler(10).append(message, false) === message);
	},
	"puts a message of exactly its limit together"() {
		const assembler = new MessageAssembler(10);
		equal(assembler.append(ArrayBuffer.fromString("01234"), true), undefined);
		const text = String.fromArrayBuffer(assembler.append(ArrayBuffer.fromString("56789"), false) as ArrayBuffer);
		equal(text, "0123456789");
	},
	"tells the length of UTF-8"() {
		for (const text of [
			"",
			"a",
			"é",
			"ñÿß ΩЖ",
			"日本語",
			"ﾊﾝｶｸ",
			"😀",
			"👩‍👩‍👧",
			'mixed é 日 😀 "\\',
			"\u007f\u0080\u07ff\u0800\uffff\u{10000}\u{10ffff}",
			"x".repeat(5000) + "語".repeat(5000),
			"\ud83d a\ude00b \ude00\ud83d",
		]) {
			equal(utf8Length(text), ArrayBuffer.fromString(text).byteLength, text.slice(0, 40));
		}
	},
	"knows an object from all else that JSON has"() {
		for (const value of [{}, { a: 1 }, Object.create(null), JSON.parse('{"__proto__":1}')]) {
			equal(isObject(value), true);
		}
		for (const value of [null, undefined, [], [{}], "", "{}", 0, Number.NaN, true, () => 1]) {
			equal(isObject(value), false, String(value));
		}
	},
});
