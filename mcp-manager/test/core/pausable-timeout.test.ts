import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SdkErrorCode } from "@modelcontextprotocol/client";
import { PausableTimeout } from "../../src/core/questions.js";

describe("the time for a request", () => {
	const cases: Record<
		string,
		{ act: (pausable: PausableTimeout, tick: (ms: number) => void) => void; isOver: boolean }
	> = {
		"is over after its timeout": { act: (_patience, tick) => tick(100), isOver: true },
		"stands still while its server asks, also several questions": {
			act(pausable, tick) {
				pausable.pause();
				pausable.pause();
				tick(1_000);
				pausable.resume();
				tick(1_000);
				pausable.resume();
				tick(99);
			},
			isOver: false,
		},
		"starts again when the server has its answer": {
			act(pausable, tick) {
				pausable.pause();
				pausable.resume();
				tick(100);
			},
			isOver: true,
		},
		"starts again with progress": {
			act(pausable, tick) {
				tick(99);
				pausable.options.onprogress?.({ progress: 1 });
				tick(99);
			},
			isOver: false,
		},
		"does not start again with progress while its server asks": {
			act(pausable, tick) {
				pausable.pause();
				pausable.options.onprogress?.({ progress: 1 });
				tick(1_000);
			},
			isOver: false,
		},
		"does not end once the request has": {
			act(pausable, tick) {
				pausable.end();
				tick(1_000);
			},
			isOver: false,
		},
	};
	for (const [name, { act, isOver }] of Object.entries(cases)) {
		it(name, (t) => {
			t.mock.timers.enable({ apis: ["setTimeout"] });
			const pausable = new PausableTimeout({ timeout: 100, onprogress: () => {} });
			const { signal } = pausable.options;
			act(pausable, (ms) => t.mock.timers.tick(ms));
			assert.equal(signal?.aborted, isOver);
			assert.equal(signal?.reason?.code, isOver ? SdkErrorCode.RequestTimeout : undefined);
		});
	}

	it("is cancelled by the caller's signal", () => {
		const controller = new AbortController();
		const pausable = new PausableTimeout({ timeout: 100, signal: controller.signal });
		const { signal } = pausable.options;
		controller.abort();
		assert.ok(signal?.aborted);
		pausable.end();
	});
});
