import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/client";
import { managerCodeOf, ServerError, type ServerErrorCode } from "../../src/core/errors.js";

const isSafe = (code: ServerErrorCode, isRepeatable: boolean): boolean =>
	new ServerError(code, "x").isSafeToRetry(isRepeatable);

describe("a call that failed", () => {
	it("may be repeated if the server was not asked, whatever the tool", () => {
		for (const code of ["server-offline", "queue-full", "rate-limited"] as const) {
			assert.deepEqual([isSafe(code, false), isSafe(code, true)], [true, true], code);
		}
	});

	it("may be repeated if it was perhaps carried out, where a repetition does no harm", () => {
		for (const code of ["timeout", "server-disconnected"] as const) {
			assert.deepEqual([isSafe(code, false), isSafe(code, true)], [false, true], code);
		}
	});

	it("is not repeated where another attempt would fail, too", () => {
		for (const code of ["invalid-arguments", "permission-denied", "cancelled", "retries-exceeded"] as const) {
			assert.deepEqual([isSafe(code, false), isSafe(code, true)], [false, false], code);
		}
	});

	it("has a code for programs: the server's own error, the protocol's, or that its execution failed", () => {
		for (const [error, code] of [
			[new ProtocolError(ProtocolErrorCode.InvalidParams, "no"), "INVALID_PARAMS"],
			[new ProtocolError(ProtocolErrorCode.MethodNotFound, "no"), "METHOD_NOT_FOUND"],
			[new ProtocolError(-32_000, "no"), "EXECUTION_FAILED"],
			[Object.assign(new Error("no"), { code: ProtocolErrorCode.InvalidParams }), "EXECUTION_FAILED"],
			[undefined, "EXECUTION_FAILED"],
		] as const) {
			assert.equal(managerCodeOf(error), code);
		}
	});
});
