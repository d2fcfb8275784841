import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CLIENT_REVISIONS, clientScenarios, runClientScenarios } from "../conformance/client-scenarios.js";
import { IS_FULL } from "../support/scope.js";

/** The scenario of each revision that `npm test` runs. */
const IN_EVERY_RUN: ReadonlySet<string> = new Set(["elicitation-sep1034-client-defaults", "http-custom-headers"]);

for (const revision of CLIENT_REVISIONS) {
	describe(`the gateway as a client of upstream servers, by the conformance suite of ${revision}`, () => {
		const scenarios = clientScenarios(revision);
		for (const scenario of IS_FULL ? scenarios : scenarios.filter(({ name }) => IN_EVERY_RUN.has(name))) {
			it(`passes ${scenario.name}`, async () => {
				const [result] = await runClientScenarios(revision, [scenario]);
				assert.deepEqual(result?.failures ?? [], []);
				assert.ok((result?.passed ?? 0) > 0, "checks were made");
			});
		}
	});
}
