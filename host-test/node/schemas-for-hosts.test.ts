import assert from "node:assert/strict";
import { it, type TestContext } from "node:test";
import { Ajv } from "ajv";
import { connectClient, WireDevice } from "xs-mcp-gateway/testing/gateway";
import { startProgram } from "xs-mcp-gateway/testing/program";
import type { Hardware } from "../../src/hardware/hardware.js";
import { Client, TOOLS } from "../doubles/client.js";
import { FakeBoard } from "../doubles/fake-board.js";

// The schemas that this project makes, by the rules of the hosts that convert them: one that is refused costs a host every tool.

interface Schema {
	readonly [keyword: string]: unknown;
	readonly properties?: Readonly<Record<string, Schema>>;
}

interface ListedTool {
	readonly name: string;
	readonly inputSchema: Schema;
}

function firmwareTools(): ListedTool[] {
	const client = new Client<Hardware>({ context: new FakeBoard(), tools: TOOLS });
	const tools: ListedTool[] = [];
	for (let cursor: string | undefined = ""; cursor !== undefined; ) {
		const { result } = client.ask("tools/list", { withUserTools: true, cursor });
		tools.push(...result.tools);
		cursor = result.nextCursor;
	}
	return tools;
}

async function gatewayTools(t: TestContext, tools: readonly ListedTool[]): Promise<ListedTool[]> {
	const speech = { speechCommand: "true", transcriptionCommand: "true", microphones: true };
	const started = await startProgram(t, { managementTools: "local", userTools: ["*"], ...speech });
	for (const id of ["aa:bb:cc:00:00:01", "aa:bb:cc:00:00:02"]) {
		await WireDevice.connect(t, started, { id, tools });
	}
	const lists = ["full", "groups", "search"].map(async (catalog) => {
		const client = await connectClient(t, new URL(`${started.base}/mcp?catalog=${catalog}`), "2025-11-25");
		return (await client.listTools()).tools as ListedTool[];
	});
	return (await Promise.all(lists)).flat();
}

const NESTED = ["items", "additionalProperties", "anyOf", "oneOf", "allOf", "not", "prefixItems"];

function* schemasIn(schema: Schema, path: string): Generator<[path: string, schema: Schema]> {
	yield [path, schema];
	for (const [name, property] of Object.entries(schema.properties ?? {})) {
		yield* schemasIn(property, `${path}.${name}`);
	}
	for (const keyword of NESTED) {
		for (const each of [schema[keyword]].flat()) {
			if (typeof each === "object" && each !== null) {
				yield* schemasIn(each as Schema, `${path}/${keyword}`);
			}
		}
	}
}

const isChoice = ({ anyOf, oneOf }: Schema): boolean => anyOf !== undefined || oneOf !== undefined;
const isList = ({ type }: Schema): boolean => [type].flat().includes("array");

/** Describes the fault of a tool's input schema for one host; "" without a fault. */
type Rule = (schema: Schema, isRoot: boolean) => string;

const RULES: Readonly<Record<string, Rule>> = {
	/** voluptuous-openapi 0.4: `convert_to_voluptuous`. */
	"Home Assistant": (schema) => {
		if (["propertyNames", "allOf", "not"].some((keyword) => keyword in schema)) {
			return "a keyword that is not supported";
		}
		const isTyped = schema.enum !== undefined || schema.const !== undefined || isChoice(schema);
		if (!isTyped && typeof schema.type !== "string") {
			return "no type";
		}
		return isList(schema) && schema.items === undefined ? "a list without items" : "";
	},
	/** The API of OpenAI, "Function calling", without strict mode. */
	OpenAI: (schema, isRoot) => {
		const names = Object.keys(schema.properties ?? {});
		if (isRoot && (schema.type !== "object" || isChoice(schema) || "enum" in schema || "not" in schema)) {
			return "a root that is not a plain object";
		}
		if (!names.every((name) => /^[a-zA-Z0-9_.-]{1,64}$/.test(name))) {
			return "a name with other characters";
		}
		return isList(schema) && schema.items === undefined ? "a list without items" : "";
	},
	/** The API of Gemini, `FunctionDeclaration.parametersJsonSchema`. */
	Gemini: (schema) => {
		const { type, enum: values, required = [], properties = {}, $ref } = schema;
		if (Array.isArray(type) || $ref !== undefined) {
			return "a list of types, or a reference";
		}
		if (Array.isArray(values) && !values.every((value) => typeof value === "string")) {
			return "an enum of other values than text";
		}
		if (!(required as string[]).every((name) => name in properties)) {
			return "a required property without a schema";
		}
		return isList(schema) && schema.items === undefined ? "a list without items" : "";
	},
	/** VS Code: `toolSchemaNormalizer`, which checks a schema as draft-07. */
	"VS Code": (schema, isRoot) => {
		if (isRoot && new Ajv({ strict: false, logger: false }).validateSchema(schema) !== true) {
			return "not a schema of draft-07";
		}
		return isList(schema) && schema.items === undefined ? "a list without items" : "";
	},
};

function faults(tools: readonly ListedTool[], rule: Rule): string[] {
	return tools.flatMap(({ name, inputSchema }) =>
		[...schemasIn(inputSchema, name)].flatMap(([path, schema]) => {
			const fault = rule(schema, schema === inputSchema);
			return fault === "" ? [] : [`${path}: ${fault}`];
		}),
	);
}

it("the schemas of every tool are accepted by every host", async (t) => {
	const own = firmwareTools();
	assert.equal(own.length, TOOLS.length);
	const tools = [...own, ...(await gatewayTools(t, own))];
	for (const name of ["say", "listen", "ask", "tool_call", "mcp_connect", "mcp_call_tool", "servers_list"]) {
		assert.ok(
			tools.some((tool) => tool.name === name),
			name,
		);
	}
	const found = Object.entries(RULES).map(([host, rule]) => [host, [...new Set(faults(tools, rule))]]);
	assert.deepEqual(Object.fromEntries(found), Object.fromEntries(Object.keys(RULES).map((host) => [host, []])));
	const isOwn = ({ name }: ListedTool): boolean => own.some((tool) => tool.name === name);
	assert.deepEqual(
		tools.filter((tool) => !isOwn(tool) && !/^[a-zA-Z0-9_-]{1,64}$/.test(tool.name)),
		[],
	);
});
