import type { ServerTool } from "../core/offers.js";
import { commentOf, typeOf } from "./json-schema-types.js";

/** Options of the declarations of a server's tools. */
type DeclaredTool = Pick<ServerTool, "name" | "inputSchema"> &
	Partial<Pick<ServerTool, "description" | "outputSchema">>;

/** The method for a tool: `find_symbol` and `find-symbol` are `findSymbol`. */
export function methodNameOf(tool: string): string {
	const name = pascalCase(tool);
	return `${name.slice(0, 1).toLowerCase()}${name.slice(1)}`;
}

/** TypeScript declarations for `manager.typed<NAME>(server)`: an interface with a method for each tool. */
export function declarationsOf(server: string, tools: readonly DeclaredTool[]): string {
	const unique = new Map(tools.map((tool) => [methodNameOf(tool.name), tool]));
	const methods = [...unique].map(([method, tool]) => {
		const { name, description, inputSchema, outputSchema } = tool;
		const optional = (inputSchema.required ?? []).length === 0 ? "?" : "";
		const result = outputSchema === undefined ? "string" : `${pascalCase(name)}Result`;
		return `${commentOf(description, "\t")}\t${method}(params${optional}: ${pascalCase(name)}Params): Promise<${result}>;\n`;
	});
	const types = [...unique.values()].flatMap(({ name, inputSchema, outputSchema }) => [
		`export type ${pascalCase(name)}Params = ${typeOf(inputSchema)};\n`,
		...(outputSchema === undefined ? [] : [`export type ${pascalCase(name)}Result = ${typeOf(outputSchema)};\n`]),
	]);
	const head = `/** The tools of ${server.replaceAll("*/", "")}. Made by: xs-mcp-gateway types. A tool that fails rejects with McpError. */\n`;
	return `${head}export interface ${pascalCase(server)} {\n${methods.join("")}}\n\n${types.join("\n")}`;
}

function pascalCase(name: string): string {
	const words = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
	const joined = words.map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`).join("");
	return /^[A-Za-z]/.test(joined) ? joined : `Tool${joined}`;
}
