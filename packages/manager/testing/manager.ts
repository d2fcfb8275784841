// Managers, and their tools as a model calls them.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { MANAGEMENT_TOOLS, type ManagementCaller, McpManager, type McpManagerOptions } from "../src/manager/index.js";
import { textOf } from "./upstreams.js";

export async function openManager(t: TestContext, options: McpManagerOptions = {}): Promise<McpManager> {
	const manager = new McpManager(options);
	t.after(() => manager.close());
	await manager.initialize();
	return manager;
}

/** Runs a management tool for a person who approves everything, unless the test says otherwise. */
export async function runTool(
	manager: McpManager,
	name: string,
	args: object = {},
	person: Partial<ManagementCaller> = {},
) {
	const tool = MANAGEMENT_TOOLS.find((each) => each.name === name);
	assert.ok(tool, name);
	const caller = { principal: "test", approve: async () => true, notify: () => {}, ...person };
	const { content, isError = false } = await tool.run(manager, args, caller);
	return { text: textOf({ content }), isError, content };
}
