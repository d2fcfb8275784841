import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { McpManager } from "../../src/manager/index.js";
import { nodeServer, ODD_SERVER, temporaryFolder } from "../support/upstreams.js";

describe("a reload of the file of servers", () => {
	const listed = (entry: object) => ({ servers: [entry] });
	const named = ({ id, ...entry }: { id: string }) => ({ mcpServers: { [id]: entry } });

	for (const [shape, content] of Object.entries({ servers: listed, mcpServers: named })) {
		it(`leaves a server as it is while its entry in ${shape} is not valid: calls go on`, async (t) => {
			const file = `${await temporaryFolder(t)}/servers.json`;
			const entry = { ...nodeServer("one", ODD_SERVER, "good"), enabled: true };
			await writeFile(file, JSON.stringify(content(entry)));
			const manager = new McpManager({ file });
			t.after(() => manager.close());
			await manager.initialize();
			const call = manager.executeTool("write", { text: "x", delay: 1_500 });
			await writeFile(file, JSON.stringify(content({ ...entry, timeout: 0 } as typeof entry)));
			const { problems } = await manager.reload();
			assert.match(problems.join(), /timeout/);
			assert.equal((await call).success, true);
			await writeFile(file, JSON.stringify(content({ ...entry, id: "other" })));
			await manager.reload();
			assert.deepEqual(
				manager.listConnections().map(({ id }) => id),
				["other"],
			);
		});
	}
});
