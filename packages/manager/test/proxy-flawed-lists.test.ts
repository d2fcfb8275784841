import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { until } from "../../../host-test/support/testing.js";
import { call, startProxy, textOf } from "../testing/proxy.js";

const PROGRAM = fileURLToPath(new URL("../testing/flawed-lists.mjs", import.meta.url));

const upstream = (flaws: object): string[] => [
	"--upstream",
	`"${process.execPath}" "${PROGRAM}" '${JSON.stringify(flaws)}'`,
];

const TEMPLATES = "resources/templates/list";

describe("the proxy before an upstream one list of which fails", () => {
	for (const [name, code] of [
		["does not know the method", -32_601],
		["answers with an error", -32_603],
		["rejects the request", -32_602],
	] as const) {
		it(`shows its other lists, and says so: it ${name}`, async (t) => {
			const { client, log } = await startProxy(t, upstream({ [TEMPLATES]: code }));
			assert.equal((await client.listTools()).tools.length, 7);
			assert.equal((await client.listResources()).resources.length, 1);
			if (code === -32_601) {
				assert.deepEqual((await client.listResourceTemplates()).resourceTemplates, []);
			} else {
				await assert.rejects(client.listResourceTemplates(), { code });
			}
			await until(() => log().includes(`${TEMPLATES} of the upstream failed: failure ${code}`), "it is said");
		});
	}

	it("shows its other lists while that one is not answered", async (t) => {
		const { client } = await startProxy(t, upstream({ [TEMPLATES]: null }));
		for (const _ of [1, 2]) {
			assert.equal((await client.listTools()).tools.length, 7);
		}
	});

	it("gives the host the error of the tools, not an empty list", async (t) => {
		const { client } = await startProxy(t, upstream({ "tools/list": -32_603 }));
		await assert.rejects(client.listTools(), { code: -32_603, message: /tools\/list of the upstream failed/ });
		assert.equal((await client.listResources()).resources.length, 1);
	});

	it("says that the upstream cannot be reached", async (t) => {
		const { client, log } = await startProxy(t, ["--upstream", "/no/such/program"]);
		await assert.rejects(client.listTools(), /the upstream cannot be reached: .*\/no\/such\/program/);
		await until(() => /the upstream cannot be reached: .*\/no\/such\/program/.test(log()), "it is said");
	});

	it("names the command in the answer of activate", async (t) => {
		const { client } = await startProxy(t, [...upstream({}), "--skill", "/s"]);
		assert.match(textOf(await call(client, "activate"), false), /^Connected to .*flawed-lists\.mjs.*Tools \(7\)/);
	});
});
