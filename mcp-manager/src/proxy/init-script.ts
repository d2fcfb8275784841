import { readFileSync } from "node:fs";
import type { ServerTool } from "../core/offers.js";
import { textOf } from "../core/tool-results.js";
import type { Upstream } from "./upstream.js";

/** Characters of a failed script's answer, for the error message. */
const MAX_QUOTE = 1_000;

/**
 * Runs a script on the upstream, as the argument of one of its tools. Rejects with an Error with the reason.
 *
 * @param script its path. Read each time, so that a changed script needs no restart
 * @param tool the upstream's tool that runs it
 */
export async function runInitScript(
	upstream: Upstream,
	{ script, tool }: { readonly script: string; readonly tool: string },
	tools: readonly ServerTool[],
): Promise<void> {
	const found = tools.find(({ name }) => name === tool);
	if (found === undefined) {
		throw new Error(`--init-tool: the upstream has no tool ${tool}`);
	}
	const code = readFileSync(script, "utf8");
	const { properties = {}, required = [] } = found.inputSchema;
	const parameter = Object.hasOwn(properties, "code") ? "code" : (required[0] ?? "code");
	const call = { name: tool, arguments: { [parameter]: code } };
	const { isError, content } = await upstream.request("tools/call", call);
	if (isError) {
		throw new Error(`${tool} failed with ${script}: ${textOf(content).slice(0, MAX_QUOTE)}`);
	}
}
