import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readTags } from "../../src/core/tags.js";

const tags = (count: number) => Array.from({ length: count }, (_, at) => `tag${at + 10}`);

describe("the tags of a device", () => {
	it("are kept sorted, each once", () => {
		assert.deepEqual(readTags(["upstairs", "lamp", "upstairs"]), ["lamp", "upstairs"]);
		assert.deepEqual(readTags([]), []);
	});

	it("have the form of an alias, and none stands for every device", () => {
		assert.throws(() => readTags(["lamp", "Up stairs"]), { name: "RangeError", message: /got "Up stairs"/ });
		assert.throws(() => readTags(["all"]), { name: "RangeError", message: /reserved for every device/ });
	});

	it("are sixteen at most", () => {
		assert.equal(readTags([...tags(16), "tag10"]).length, 16);
		assert.throws(() => readTags(tags(17)), { message: "tags: a device has at most 16, got 17" });
	});
});
