import assert from "node:assert/strict";
import { it } from "node:test";
import { SaveState } from "../src/config/state-files.js";

it("lines of a log that can be written do not hide a file that cannot", () => {
	const told: (string | undefined)[] = [];
	const saves = new SaveState((problem) => told.push(problem?.message));
	saves.note("store", new Error("the disk is full"));
	saves.note("log");
	assert.equal(saves.problem?.message, "the disk is full");
	saves.note("log", new Error("no line fits"));
	saves.note("store");
	assert.equal(saves.problem?.message, "no line fits");
	saves.note("log");
	assert.deepEqual([told, saves.failures], [["the disk is full", undefined], 2]);
});
