import assert from "node:assert/strict";
import { appendFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type JsonLines, openJsonLines } from "../src/history/json-lines.js";
import { makeStateFolder } from "../testing/program.js";

async function numbersIn(lines: JsonLines): Promise<unknown[]> {
	const found: unknown[] = [];
	for await (const { number } of lines.read()) {
		found.push(number);
	}
	return found;
}

describe("lines of JSON on disk", () => {
	it("stay within their bound, and the newest ones stay", async () => {
		const folder = makeStateFolder();
		const lines = openJsonLines(join(folder, "a."), 1_000, assert.ifError);
		for (let number = 0; number < 200; number += 1) {
			lines.append({ number, text: "x".repeat(20) });
			await numbersIn(lines);
		}
		const numbers = await numbersIn(lines);
		assert.equal(numbers.at(-1), 199);
		assert.deepEqual(
			numbers,
			numbers.map((_, index) => 200 - numbers.length + index),
			"none is missing among them",
		);
		const onDisk = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
		assert.ok(onDisk <= 1_000 && onDisk > 500, `${onDisk}`);
		assert.equal(lines.bytes, onDisk);
	});

	it("are there after a restart, also behind a line that was cut short", async () => {
		const path = join(makeStateFolder(), "a.");
		const before = openJsonLines(path, 1_000, assert.ifError);
		before.append({ number: 1 });
		await before.close();
		before.append({ number: 2 });
		appendFileSync(`${path}new.jsonl`, '{"number":3');
		const after = openJsonLines(path, 1_000, assert.ifError);
		after.append({ number: 4 });
		assert.deepEqual(await numbersIn(after), [1, 4]);
	});

	it("report one that cannot be serialized, and keep later ones", async () => {
		const errors: unknown[] = [];
		const lines = openJsonLines(join(makeStateFolder(), "a."), 1_000, (error) => void errors.push(error));
		lines.append({ number: 1n });
		assert.deepEqual(await numbersIn(lines), []);
		lines.append({ number: 2 });
		assert.deepEqual(await numbersIn(lines), [2]);
		assert.match(`${errors[0]}`, /BigInt/);
	});

	it("report a disk that cannot be written", async () => {
		const errors: unknown[] = [];
		const lines = openJsonLines(join(makeStateFolder(), "missing", "a."), 1_000, (error) => void errors.push(error));
		lines.append({ number: 1 });
		await lines.close();
		assert.match(`${errors}`, /ENOENT/);
	});
});
