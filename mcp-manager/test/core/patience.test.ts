import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SdkErrorCode } from "@modelcontextprotocol/client";
import { Patience } from "../../src/core/patience.js";

describe("the time for a request", () => {
	const cases: Record<string, { act: (patience: Patience, tick: (ms: number) => void) => void; isOver: boolean }> = {
		"is over after its timeout": { act: (_patience, tick) => tick(100), isOver: true },
		"stands still while its server asks, also several questions": {
			act(patience, tick) {
				patience.pause();
				patience.pause();
				tick(1_000);
				patience.resume();
				tick(1_000);
				patience.resume();
				tick(99);
			},
			isOver: false,
		},
		"starts again when the server has its answer": {
			act(patience, tick) {
				patience.pause();
				patience.resume();
				tick(100);
			},
			isOver: true,
		},
		"starts again with progress": {
			act(patience, tick) {
				tick(99);
				patience.options.onprogress?.({ progress: 1 });
				tick(99);
			},
			isOver: false,
		},
		"does not start again with progress while its server asks": {
			act(patience, tick) {
				patience.pause();
				patience.options.onprogress?.({ progress: 1 });
				tick(1_000);
			},
			isOver: false,
		},
		"does not end once the request has": {
			act(patience, tick) {
				patience.end();
				tick(1_000);
			},
			isOver: false,
		},
	};
	for (const [name, { act, isOver }] of Object.entries(cases)) {
		it(name, (t) => {
			t.mock.timers.enable({ apis: ["setTimeout"] });
			const patience = new Patience({ timeout: 100, onprogress: () => {} });
			const { signal } = patience.options;
			act(patience, (ms) => t.mock.timers.tick(ms));
			assert.equal(signal?.aborted, isOver);
			assert.equal(signal?.reason?.code, isOver ? SdkErrorCode.RequestTimeout : undefined);
		});
	}

	it("is cancelled by the caller's signal", () => {
		const controller = new AbortController();
		const patience = new Patience({ timeout: 100, signal: controller.signal });
		const { signal } = patience.options;
		controller.abort();
		assert.ok(signal?.aborted);
		patience.end();
	});
});
