import { ServerError } from "../core/errors.js";
import { SchemaChecker } from "../core/schema-checker.js";
import { McpError, type McpToolResult } from "./mcp-error.js";
import type { LocalTool, McpTool } from "./mcp-types.js";

/** The tools of the program itself, beside those of servers. */
export class LocalTools {
	readonly #tools = new Map<string, LocalTool>();
	readonly #warn: (message: string) => void;
	#checker: SchemaChecker | undefined;

	/** @param warn called for unusable schemas */
	constructor(warn: (message: string) => void) {
		this.#warn = warn;
	}

	/** @throws McpError if a tool of this name is already registered */
	add(tool: LocalTool): void {
		if (this.#tools.has(tool.name)) {
			throw new McpError("INVALID_REQUEST", `Tool '${tool.name}' is already registered`);
		}
		this.#tools.set(tool.name, tool);
	}

	remove(name: string): void {
		this.#tools.delete(name);
	}

	find(name: string): LocalTool | undefined {
		return this.#tools.get(name);
	}

	/** Their list entries, with an empty `server`. */
	list(execute: (name: string, params: object) => Promise<McpToolResult>): McpTool[] {
		return [...this.#tools.values()].map(({ name, description = "", version = "", inputSchema, outputSchema }) => ({
			name,
			description,
			version,
			inputSchema,
			outputSchema,
			annotations: undefined,
			server: "",
			execute: (params) => execute(name, params),
		}));
	}

	/** Checks the arguments, and runs the tool. Rejects with what it throws, with ServerError, or with McpError. */
	async run(tool: LocalTool, params: object): Promise<Pick<McpToolResult<unknown>, "success" | "data" | "error">> {
		const { name, inputSchema: schema } = tool;
		this.#checker ??= new SchemaChecker(this.#warn);
		const problem = await this.#checker.check({ tool: name, what: "arguments", schema, value: params });
		if (problem !== undefined) {
			throw new ServerError("invalid-arguments", problem);
		}
		if (tool.canExecute !== undefined && !(await tool.canExecute(params))) {
			throw new McpError("INVALID_PARAMS", `Tool '${name}' cannot be executed with these arguments`);
		}
		return await tool.execute(params);
	}

	async close(): Promise<void> {
		await this.#checker?.close();
	}
}
