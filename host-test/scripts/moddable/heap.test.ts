import assert from "node:assert/strict";
import { it } from "node:test";
import { describeHeap, readHeap } from "../../../scripts/moddable/heap.js";
import type { Samples } from "../../../scripts/moddable/xsbug.js";

/** As the simulator names what it measures, in this order. */
const SAMPLES: Samples = new Map([
	["Timers", { value: 3, unit: " timers" }],
	["Chunk used", { value: 4_168, unit: " / " }],
	["Chunk available", { value: 65_536, unit: " bytes" }],
	["Slot used", { value: 31_392, unit: " / " }],
	["Slot available", { value: 98_272, unit: " bytes" }],
	["Stack used", { value: 416, unit: " / " }],
	["Stack available", { value: 16_384, unit: " bytes" }],
	["Garbage collections", { value: 5, unit: " times" }],
]);

it("a machine's heap is found among its counters, and printed in a line", () => {
	const heap = readHeap(SAMPLES);
	assert.deepEqual(heap, {
		slots: { used: 31_392, available: 98_272 },
		chunks: { used: 4_168, available: 65_536 },
		stack: { used: 416, available: 16_384 },
		collections: 5,
	});
	assert.equal(
		describeHeap(heap as NonNullable<typeof heap>),
		"heap: slots 31392 of 98272 bytes, chunks 4168 of 65536 bytes, stack 416 of 16384 bytes; 5 collections",
	);
});

it("a machine that does not measure its heap has none to tell", () => {
	for (const name of ["Chunk used", "Slot available", "Stack used", "Garbage collections"]) {
		const samples = new Map([...SAMPLES].filter(([each]) => each !== name));
		assert.equal(readHeap(samples), undefined, name);
	}
});
