import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readList } from "../src/core/offers.js";

/** Pages of so many tools each. The last has no cursor. */
const pages = (sizes: readonly number[], item: unknown = {}) => {
	const cursors: string[] = [];
	const readPage = async (cursor: string) => {
		cursors.push(cursor);
		const at = Number(cursor);
		return {
			tools: Array.from({ length: sizes[at] ?? 0 }, () => item),
			...(at + 1 < sizes.length && { nextCursor: `${at + 1}` }),
		};
	};
	return { cursors, readPage };
};

describe("the list of a server", () => {
	it("ends with a cursor that is empty or null", async () => {
		for (const nextCursor of ["", null, undefined]) {
			assert.deepEqual(await readList("tools", async () => ({ tools: [1], nextCursor })), [1]);
		}
	});

	it("has a thousand items at most", async () => {
		assert.equal((await readList("tools", pages([600, 400]).readPage)).length, 1_000);
		await assert.rejects(readList("tools", pages([600, 401]).readPage), {
			code: "invalid-result",
			message: "list too large (1001 items, 3005 characters)",
		});
	});

	it("has four million characters at most", async () => {
		const of = (length: number) => pages([1, 1], "x".repeat(length / 2 - '[""]'.length)).readPage;
		assert.equal((await readList("tools", of(4 * 1024 * 1024))).length, 2);
		await assert.rejects(readList("tools", of(4 * 1024 * 1024 + 2)), { message: /list too large \(2 items, 4194306/ });
	});

	it("has a thousand pages at most", async () => {
		assert.deepEqual(await readList("tools", pages(Array(1_000).fill(0)).readPage), []);
		const { cursors, readPage } = pages(Array(1_001).fill(0));
		await assert.rejects(readList("tools", readPage), { message: "more than 1000 pages" });
		assert.equal(cursors.length, 1_000);
	});

	it("does not end if a cursor comes twice, which is noticed at once", async () => {
		for (const cycle of [["a", "a"], ["a", "b", "a"], [" "]]) {
			const cursors: string[] = [];
			const readPage = async (cursor: string) => {
				cursors.push(cursor);
				return { tools: [], nextCursor: cycle[(cursors.length - 1) % cycle.length] as string };
			};
			await assert.rejects(readList("tools", readPage), {
				code: "invalid-result",
				message: /the cursor ".*" comes twice/,
			});
			assert.ok(cursors.length <= 4);
		}
	});
});
