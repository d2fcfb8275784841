import assert from "node:assert/strict";
import { it } from "node:test";
import { runAuthorizationScenarios } from "./conformance/authorization-scenarios.js";

it("the gateway as an authorization server, by the conformance suite, passes every scenario", async () => {
	const results = await runAuthorizationScenarios();
	assert.deepEqual(
		results.flatMap(({ failures = [] }) => failures),
		[],
	);
	const names = results.map(({ name }) => name);
	assert.deepEqual(names, ["authorization-code-grant", "authorization-server-metadata-endpoint"]);
	assert.ok(
		results.every(({ passed }) => passed > 0),
		"checks were made",
	);
});
