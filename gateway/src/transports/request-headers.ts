import type { IncomingHttpHeaders } from "node:http";
import type { JSONRPCRequest } from "@modelcontextprotocol/server";
import { headerProblem } from "xs-mcp-manager/core";
import { isObject } from "../firmware.js";

/** The parameter that the header `Mcp-Name` repeats, by method. */
const NAMES: Readonly<Record<string, string>> = {
	"tools/call": "name",
	"prompts/get": "name",
	"resources/read": "uri",
	"tasks/get": "taskId",
	"tasks/update": "taskId",
	"tasks/cancel": "taskId",
};

/** The form of a header whose text is not ASCII. */
const BASE64 = /^=\?base64\?(.*)\?=$/;

const DECIMAL = /^-?\d+(\.\d+)?$/;

/**
 * How the headers of a request of 2026-07-28 differ from its body: MCP "Standard Request Headers" and "Custom Headers from Tool
 * Parameters". Undefined for a valid request.
 *
 * @param schemaOf the schema of a tool's arguments
 */
export function headersProblem(
	headers: IncomingHttpHeaders,
	{ method, params = {} }: JSONRPCRequest,
	schemaOf: (tool: string) => unknown,
): string | undefined {
	const missing = ["MCP-Protocol-Version", "Mcp-Method"].find((name) => headers[name.toLowerCase()] === undefined);
	if (missing !== undefined) {
		return `the header ${missing} is missing`;
	}
	const name = params[NAMES[method] ?? ""];
	const problem = typeof name === "string" ? problemOf(headers, "Mcp-Name", name) : undefined;
	if (problem !== undefined || method !== "tools/call") {
		return problem;
	}
	const schema = schemaOf(`${name}`);
	const problemOfArguments = argumentsProblem(headers, schema, params.arguments);
	// Clients cannot send the headers of a faulty schema.
	return problemOfArguments !== undefined && headerProblem(schema) === undefined ? problemOfArguments : undefined;
}

/** Compares the arguments that a schema requests as headers, at any depth of objects. */
function argumentsProblem(headers: IncomingHttpHeaders, schema: unknown, args: unknown): string | undefined {
	const properties = isObject(schema) && isObject(schema.properties) && isObject(args) ? schema.properties : {};
	for (const [key, property] of Object.entries(properties)) {
		const value = (args as Record<string, unknown>)[key];
		const header = isObject(property) ? property["x-mcp-header"] : undefined;
		const problem =
			typeof header === "string" && isScalar(value)
				? problemOf(headers, `Mcp-Param-${header}`, value)
				: argumentsProblem(headers, property, value);
		if (problem !== undefined) {
			return problem;
		}
	}
	return undefined;
}

/** Integers beyond 2^53 are not exact. */
function isScalar(value: unknown): value is string | number | boolean {
	const isNumber = typeof value === "number" && (!Number.isInteger(value) || Number.isSafeInteger(value));
	return isNumber || typeof value === "string" || typeof value === "boolean";
}

function problemOf(headers: IncomingHttpHeaders, name: string, value: string | number | boolean): string | undefined {
	const header = headers[name.toLowerCase()];
	const base64 = BASE64.exec(`${header}`)?.[1];
	const text = base64 === undefined ? `${header}` : Buffer.from(base64, "base64").toString();
	if (header === undefined || (base64 !== undefined && Buffer.from(text).toString("base64") !== base64)) {
		return `the header ${name} is ${header === undefined ? "missing" : "not Base64 of UTF-8"}`;
	}
	const isSame = typeof value === "number" && DECIMAL.test(text) ? Number(text) === value : text === `${value}`;
	return isSame ? undefined : `the header ${name} is ${JSON.stringify(text)}, the body has ${JSON.stringify(value)}`;
}
