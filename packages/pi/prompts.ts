import type { ExtensionAPI, ExtensionCommandContext } from "@mariozechner/pi-coding-agent";
import type { McpManager } from "xs-mcp-manager";

type Prompt = ReturnType<McpManager["listPrompts"]>[number];

/** Makes every prompt of the servers a slash command, `/SERVER:PROMPT`, also those that come later. */
export function registerPrompts(pi: ExtensionAPI, manager: McpManager): void {
	const register = (): void => {
		for (const prompt of manager.listPrompts()) {
			const { server, name, description = name } = prompt;
			pi.registerCommand(`${server}:${name}`, {
				description,
				async handler(text, context) {
					const args = await argumentsOf(prompt, text, context);
					try {
						if (args !== undefined) {
							pi.sendUserMessage(await manager.executePrompt(server, name, args));
						}
					} catch (error) {
						context.ui.notify((error as Error).message, "error");
					}
				},
			});
		}
	};
	register();
	manager.on("changed", register);
}

/**
 * Returns the arguments of the command: a word each, and the rest for the last one. Asks for those that are needed and
 * missing. Undefined if the person gave none.
 */
async function argumentsOf(
	{ arguments: names = [] }: Prompt,
	text: string,
	{ ui }: ExtensionCommandContext,
): Promise<Record<string, string> | undefined> {
	const args: Record<string, string> = {};
	let rest = text.trim();
	for (const [index, { name, description, required }] of names.entries()) {
		const end = index === names.length - 1 ? -1 : rest.search(/\s/);
		const word = end === -1 ? rest : rest.slice(0, end);
		rest = rest.slice(word.length).trim();
		const value = word || (required ? await ui.input(name, description) : undefined);
		if (value) {
			args[name] = value;
		} else if (required) {
			return undefined;
		}
	}
	return args;
}
