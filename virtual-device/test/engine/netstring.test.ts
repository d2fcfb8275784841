import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeNetstring, NetstringReader } from "../../src/engine/netstring.js";

const BODIES = ["", "a", "1:x,", ",,:", "é\u{1f600}\0", "x".repeat(100_000)].map((text) => Buffer.from(text));
const STREAM = Buffer.concat(BODIES.map((body) => encodeNetstring(body)));

test("encodes length, colon, body, comma", () => {
	assert.equal(encodeNetstring(Buffer.from("hello"), Buffer.from("!")).toString(), "6:hello!,");
});

for (const size of [1, 2, 3, 7, 1000, STREAM.length]) {
	test(`reads a stream that comes in pieces of ${size} bytes`, () => {
		const reader = new NetstringReader();
		const bodies: Buffer[] = [];
		for (let at = 0; at < STREAM.length; at += size) {
			bodies.push(...reader.push(STREAM.subarray(at, at + size)));
		}
		assert.deepEqual(bodies, BODIES);
	});
}

test("is not slow with a long body in small pieces", () => {
	const stream = encodeNetstring(Buffer.alloc(4_000_000));
	const reader = new NetstringReader();
	const bodies: Buffer[] = [];
	for (let at = 0; at < stream.length; at += 100) {
		bodies.push(...reader.push(stream.subarray(at, at + 100)));
	}
	assert.equal(bodies[0]?.length, 4_000_000);
});

for (const malformed of ["x", "-1:a,", "1x:a,", "1:ab", "12345678901:"]) {
	test(`refuses ${JSON.stringify(malformed)}`, () => {
		assert.throws(() => new NetstringReader().push(Buffer.from(malformed)), SyntaxError);
	});
}
