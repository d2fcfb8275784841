import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { skipIf } from "../support/skip-if.js";

describe("a test whose program is missing", () => {
	const before = process.env.CI;
	beforeEach(() => {
		delete process.env.CI;
	});
	afterEach(() => {
		if (before === undefined) {
			delete process.env.CI;
		} else {
			process.env.CI = before;
		}
	});

	it("is skipped, and says why", () => {
		assert.equal(skipIf("nats-server is not installed"), "nats-server is not installed");
		process.env.CI = "false";
		assert.equal(skipIf("nats-server is not installed"), "nats-server is not installed");
	});

	it("fails in CI", () => {
		process.env.CI = "true";
		assert.throws(() => skipIf("nats-server is not installed"), /nats-server is not installed/);
		assert.deepEqual([skipIf(undefined), skipIf(false)], [false, false]);
	});
});
