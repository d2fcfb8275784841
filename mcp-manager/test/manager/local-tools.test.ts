import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { LocalTool } from "../../src/manager/index.js";
import { openManager } from "../support/manager.js";
import { nodeServer, ODD_SERVER } from "../support/upstreams.js";

const OPTIONS = { servers: [nodeServer("odd", ODD_SERVER)], approve: async () => false };

const tool = (more: Partial<LocalTool> = {}): LocalTool => ({
	name: "test",
	description: "Test tool",
	version: "1.0.0",
	inputSchema: { type: "object", properties: { level: { type: "integer" } } },
	execute: async () => ({ success: true, data: "result" }),
	...more,
});

describe("a tool of the program", () => {
	it("is called as those of servers are, before them, and asks nobody", async (t) => {
		const manager = await openManager(t, OPTIONS);
		manager.registerTool(tool());
		manager.registerTool(tool({ name: "echo" }));
		const { success, data, metadata } = await manager.executeTool<string>("test", {});
		assert.deepEqual([success, data], [true, "result"]);
		assert.ok(metadata.executionTime >= 0);
		assert.equal((await manager.executeTool<string>("echo", {})).data, "result");
		assert.equal((await manager.executeTool("echo", {}, { server: "odd" })).error?.code, "PERMISSION_DENIED");
		const found = manager.listTools().map(({ server, name }) => `${server}/${name}`);
		assert.deepEqual(found, ["/test", "/echo", "odd/echo", "odd/write"]);
		assert.equal((await manager.getTool("test")?.execute({}))?.success, true);
	});

	it("is not called with arguments that do not fit, and may say so itself", async (t) => {
		const manager = await openManager(t, OPTIONS);
		manager.registerTool(tool({ canExecute: (params) => "level" in params }));
		for (const params of [{ level: "high" }, {}]) {
			assert.equal((await manager.executeTool("test", params)).error?.code, "INVALID_PARAMS");
		}
		assert.equal((await manager.executeTool("test", { level: 1 })).success, true);
	});

	it("has failed if it throws, and is gone when it is removed", async (t) => {
		const manager = await openManager(t, OPTIONS);
		const remove = manager.registerTool(
			tool({
				execute: async () => {
					throw new Error("no paper");
				},
			}),
		);
		assert.throws(() => manager.registerTool(tool()), { message: "Tool 'test' is already registered" });
		const { error } = await manager.executeTool("test");
		assert.deepEqual([error?.code, error?.message], ["EXECUTION_FAILED", "no paper"]);
		remove();
		assert.equal((await manager.executeTool("test")).error?.code, "TOOL_NOT_FOUND");
	});
});
