import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CLIENT_REVISIONS, clientScenarios, runClientScenarios } from "./conformance/client-scenarios.js";

for (const revision of CLIENT_REVISIONS) {
	describe(`the gateway as a client of upstream servers, by the conformance suite of ${revision}`, () => {
		for (const scenario of clientScenarios(revision)) {
			it(`passes ${scenario.name}`, async () => {
				const [result] = await runClientScenarios(revision, [scenario]);
				assert.deepEqual(result?.failures ?? [], []);
				assert.ok((result?.passed ?? 0) > 0, "checks were made");
			});
		}
	});
}
