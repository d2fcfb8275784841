import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { until } from "../../../host-test/support/testing.js";
import { openManager, runTool } from "../testing/manager.js";
import { nodeServer, openServers } from "../testing/upstreams.js";

const PROGRAM = fileURLToPath(new URL("../testing/flawed-lists.mjs", import.meta.url));

/** A list that is `null` never comes, so the wait for it is short; others may take long on a busy computer. */
async function connect(t: TestContext, flaws: object) {
	const discoveryTimeout = Object.values(flaws).includes(null) ? 1_000 : 60_000;
	const { registry, warnings } = await openServers(t, {}, { discoveryTimeout });
	const servers = [nodeServer("flawed", PROGRAM, JSON.stringify(flaws))];
	return { manager: await openManager(t, { registry, servers }), warnings };
}

describe("a list that fails", () => {
	for (const [name, flaw, problem] of [
		["an internal error", -32_603, "failure -32603"],
		["invalid params", -32_602, "failure -32602"],
		["an answer without the list", {}, "resourceTemplates: expected a list"],
		["silence", null, "no complete list within 1 s"],
	] as const) {
		it(`costs that list only, and is said: ${name}`, async (t) => {
			const { manager, warnings } = await connect(t, { "resources/templates/list": flaw });
			assert.equal(manager.listTools("flawed").length, 7);
			const uris = manager.listResources("flawed").map(({ uri }) => uri);
			assert.deepEqual(uris, ["test://one"]);
			await until(() => warnings.length > 0, "it is said");
			const [warning] = warnings;
			assert.ok(warning?.startsWith(`flawed: could not read resources/templates/list: ${problem}`), warning);
			const [{ status, problems } = { status: "", problems: [] }] = manager.listConnections();
			assert.deepEqual([status, problems.length], ["connected", 1]);
			assert.match(
				(await runTool(manager, "mcp_list_connections")).text,
				/\[connected\] \(7 tools\).*; resources\/templates\/list: /,
			);
		});
	}

	it("of resources may be unknown to the server although it declares them", async (t) => {
		const { manager, warnings } = await connect(t, { "resources/list": -32_601, "resources/templates/list": -32_601 });
		assert.equal(manager.listTools("flawed").length, 7);
		assert.deepEqual(warnings, ["flawed: could not read resources/list: failure -32601"]);
	});

	it("of tools leaves the resources", async (t) => {
		const { manager, warnings } = await connect(t, { "tools/list": -32_603 });
		assert.equal(manager.listResources("flawed").length, 1);
		assert.deepEqual(warnings, ["flawed: could not read tools/list: failure -32603"]);
	});

	it("refuses the server only if every list fails", async (t) => {
		const all = {
			"tools/list": -32_603,
			"resources/list": {},
			"resources/templates/list": -32_603,
			"prompts/list": null,
		};
		const { manager } = await connect(t, all);
		const [connection] = manager.listConnections();
		assert.equal(connection?.status, "error");
		assert.match(connection?.lastError ?? "", /could not list its tools, resources or prompts: /);
	});
});
