import { isObject } from "xs-mcp-firmware/core/text/json";
import type { ServerTool } from "../core/offers.js";
import { atPointer } from "../core/usable-schema.js";

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

/** Levels of a schema that are written out. Deeper ones become `unknown`. */
const MAX_DEPTH = 20;

const PRIMITIVES: Readonly<Record<string, string>> = {
	string: "string",
	number: "number",
	integer: "number",
	boolean: "boolean",
	null: "null",
};

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/** The TypeScript type of the values that fit a JSON Schema; other constraints are omitted. */
function typeOf(schema: unknown, root: unknown = schema, depth = 0): string {
	if (!isObject(schema) || depth > MAX_DEPTH) {
		return "unknown";
	}
	if (typeof schema.$ref === "string") {
		return typeOf(atPointer(root, schema.$ref), root, depth + 1);
	}
	if ("const" in schema) {
		return literal(schema.const);
	}
	if (Array.isArray(schema.enum)) {
		return union(schema.enum.map(literal));
	}
	const options = schema.anyOf ?? schema.oneOf;
	if (Array.isArray(options)) {
		return union(options.map((option) => typeOf(option, root, depth + 1)));
	}
	if (Array.isArray(schema.type)) {
		return union(schema.type.map((type) => typeOf({ ...schema, type }, root, depth + 1)));
	}
	if (schema.type === "array") {
		return `readonly (${typeOf(schema.items, root, depth + 1)})[]`;
	}
	if (schema.type === "object" || isObject(schema.properties)) {
		return objectType(schema, root, depth);
	}
	return PRIMITIVES[String(schema.type)] ?? "unknown";
}

/** A comment for a declaration; empty without a description. */
function commentOf(text: unknown, indent: string): string {
	if (typeof text !== "string" || text === "") {
		return "";
	}
	return `${indent}/** ${text.replaceAll("*/", "*\\/").replaceAll(/\s*\n\s*/g, `\n${indent} * `)} */\n`;
}

function objectType(schema: Record<string, unknown>, root: unknown, depth: number): string {
	const { properties, required, additionalProperties: additional } = schema;
	const entries = isObject(properties) ? Object.entries(properties) : [];
	const indent = "\t".repeat(depth + 1);
	const members = entries.map(([name, member]) => {
		const optional = Array.isArray(required) && required.includes(name) ? "" : "?";
		const comment = isObject(member) ? commentOf(member.description, indent) : "";
		const key = IDENTIFIER.test(name) ? name : JSON.stringify(name);
		return `${comment}${indent}${key}${optional}: ${typeOf(member, root, depth + 1)};\n`;
	});
	if (members.length === 0) {
		return additional === false ? "Record<string, never>" : `Record<string, ${typeOf(additional, root, depth + 1)}>`;
	}
	return `{\n${members.join("")}${"\t".repeat(depth)}}`;
}

function literal(value: unknown): string {
	return isObject(value) || Array.isArray(value) ? "unknown" : JSON.stringify(value);
}

function union(types: readonly string[]): string {
	return [...new Set(types)].join(" | ") || "never";
}
