import assert from "node:assert/strict";
import { rename, writeFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { temporaryFolder } from "../../../host-test/support/temporary-folder.js";
import { McpManager } from "../../src/manager/index.js";
import { openManager } from "../support/manager.js";
import { nodeServer, ODD_SERVER } from "../support/upstreams.js";

describe("a reload of the file of servers", () => {
	const listed = (entry: object) => ({ servers: [entry] });
	const named = ({ id, ...entry }: { id: string }) => ({ mcpServers: { [id]: entry } });

	for (const [shape, content] of Object.entries({ servers: listed, mcpServers: named })) {
		it(`leaves a server as it is while its entry in ${shape} is not valid: calls go on`, async (t) => {
			const file = `${temporaryFolder()}/servers.json`;
			const entry = { ...nodeServer("one", ODD_SERVER, "good"), enabled: true };
			await writeFile(file, JSON.stringify(content(entry)));
			const manager = await openManager(t, { file });
			const call = manager.executeTool("write", { text: "x", delay: 1_500 });
			await writeFile(file, JSON.stringify(content({ ...entry, timeout: -1 } as typeof entry)));
			const { problems } = await manager.reload();
			assert.match(problems.join(), /timeout/);
			assert.equal((await call).success, true);
			await writeFile(file, JSON.stringify(content({ ...entry, id: "other" })));
			await manager.reload();
			const ids = manager.listConnections().map(({ id }) => id);
			assert.deepEqual(ids, ["other"]);
		});
	}

	it("tells of a problem once, whoever has the file read, and again once it was gone meanwhile", async (t) => {
		const file = `${temporaryFolder()}/servers.json`;
		const broken = '{ "servers": [ }';
		await writeFile(file, broken);
		const manager = new McpManager({ file });
		t.after(() => manager.close());
		const warnings: string[] = [];
		manager.on("warning", (warning) => warnings.push(warning));
		await manager.initialize();
		for (const content of [broken, '{ "servers": [] }', broken]) {
			// As editors do. The manager, which watches the file, must not read half of it.
			await writeFile(`${file}.new`, content);
			await rename(`${file}.new`, file);
			await manager.reload();
			await manager.reload();
		}
		const warning = `Failed to parse MCP config file ${file}:1: invalid JSON: unexpected }`;
		assert.deepEqual(warnings, [warning, warning]);
	});
});
