import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RESULTS } from "../../src/core/results.js";

describe("a server's result", () => {
	it("asks for input if it has questions or a state, whether or not it says so", () => {
		const inputRequests = { name: { method: "elicitation/create", params: {} } };
		for (const result of [{ inputRequests }, { requestState: "s" }, { inputRequests, requestState: "s" }]) {
			const asking = { ...result, resultType: "input_required" };
			for (const method of ["tools/call", "resources/read", "prompts/get"] as const) {
				assert.deepEqual(RESULTS[method].parse(result), asking, method);
			}
		}
	});

	it("is not valid without what its method promises", () => {
		for (const result of [{}, { inputRequests: "x" }, { requestState: 5 }, { content: "x" }, 5]) {
			for (const [method, schema] of Object.entries(RESULTS)) {
				assert.equal(schema.safeParse(result).success, false, `${method}: ${JSON.stringify(result)}`);
			}
		}
	});
});
