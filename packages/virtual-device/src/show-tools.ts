import type { CallToolResult, Client, Progress } from "@modelcontextprotocol/client";
import { describeResult, entry, event, heading, line, paint } from "./prompt-output.js";
import { type OwnNames, shownName } from "./tool-names.js";

/** Lists the tools as a table. */
export async function showTools(client: Client, own: OwnNames): Promise<void> {
	const { tools } = await client.listTools();
	heading(`Tools (${tools.length})`);
	const width = Math.max(...tools.map((tool) => shownName(tool, own).length));
	for (const tool of tools) {
		const { description = "", inputSchema } = tool;
		const args = Object.keys(inputSchema.properties ?? {}).join(", ");
		entry(shownName(tool, own), width, `(${args}) ${paint("dim", firstSentence(description))}`);
	}
}

/** The listed name of a tool, whatever is put before it. */
export async function nameOf(client: Client, pattern: RegExp): Promise<string> {
	const { tools } = await client.listTools();
	const tool = tools.find(({ name }) => pattern.test(name));
	if (tool === undefined) {
		throw new Error(`no tool is called ${String(pattern)}`);
	}
	return tool.name;
}

/** Enough of a description to tell tools apart. */
function firstSentence(description: string): string {
	return /^.*?(?=\.(?:\s|$)|\n|$)/.exec(description)?.[0] ?? "";
}

/**
 * Calls a tool and shows its result or its error.
 *
 * @returns whether the tool did it
 */
export async function showCall(client: Client, name: string, args: Record<string, unknown>): Promise<boolean> {
	line(`${paint("bold", "->")} ${name} ${JSON.stringify(args)}`);
	try {
		// With progress, an update of the firmware is answered when it is installed, or has failed.
		const options = { timeout: 300_000, resetTimeoutOnProgress: true, onprogress: showProgress };
		const result = (await client.callTool({ name, arguments: args }, options)) as CallToolResult;
		line(`   ${await describeResult(result)}`);
		return result.isError !== true;
	} catch (error) {
		const { message, code } = error as Error & { code?: unknown };
		line(`   ${paint("red", `error ${String(code)}: ${message}`)}`);
		return false;
	}
}

function showProgress({ progress, total }: Progress): void {
	event(total === undefined ? `progress: ${progress}` : `progress: ${progress} of ${total}`);
}
