import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseToolArguments } from "../src/cli/tool-arguments.js";
import { argumentsOf, signatureOf } from "../src/cli/tool-commands.js";
import { GatewayError } from "../src/gateway-error.js";

const SCHEMA = {
	type: "object",
	properties: {
		text: { type: "string" },
		count: { type: "integer" },
		ratio: { type: "number" },
		on: { type: "boolean" },
		options: { type: "object" },
		items: { type: "array" },
		any: { description: "whatever" },
	},
	required: ["text"],
};

describe("arguments of a tool on the command line", () => {
	it("are read by the types in the schema", () => {
		const pairs = ["text=1=2", "count=-3", "ratio=0.5", "on=true", 'options={"a":1}', "items=[1,2]", "any=true"];
		assert.deepEqual(parseToolArguments(SCHEMA, pairs), {
			text: "1=2",
			count: -3,
			ratio: 0.5,
			on: true,
			options: { a: 1 },
			items: [1, 2],
			any: true,
		});
		assert.deepEqual(parseToolArguments(SCHEMA, ["text=", "any=not JSON"]), { text: "", any: "not JSON" });
	});

	it("are rejected by name if they cannot be read", () => {
		for (const [pair, message] of [
			["count=1.5", 'count: expected a whole number, got "1.5"'],
			["count=", 'count: expected a whole number, got ""'],
			["ratio=Infinity", 'ratio: expected a number, got "Infinity"'],
			["on=yes", 'on: expected true or false, got "yes"'],
			["options=[]", 'options: expected a JSON object, got "[]"'],
			["items={}", 'items: expected a JSON array, got "{}"'],
			["toString=1", "toString: unknown argument; the tool takes text, count, ratio, on, options, items, any"],
			["text", 'expected an argument like key=value, got "text"; quote values with spaces'],
		] as const) {
			assert.throws(() => parseToolArguments(SCHEMA, ["text=x", pair]), new GatewayError("usage", message), pair);
		}
	});

	it("are named if they are missing", () => {
		assert.throws(() => parseToolArguments(SCHEMA, []), new GatewayError("usage", "missing arguments: text"));
		assert.throws(() => parseToolArguments({ type: "object" }, ["a=1"]), /the tool takes no arguments/);
		assert.deepEqual(parseToolArguments({ type: "object", additionalProperties: true }, ["a=1"]), { a: 1 });
	});
});

const TOOL = {
	name: "paint",
	inputSchema: {
		type: "object" as const,
		properties: {
			volume: { type: "integer", minimum: 0, maximum: 100, description: "Percent of full volume." },
			angle: { type: "number", minimum: -180 },
			theme: { type: "string", enum: ["light", "dark"], default: "light" },
			text: { type: "string", maxLength: 20 },
			on: { type: "boolean" },
			any: {},
		},
		required: ["volume"],
	},
};

describe("the description of a tool on the command line", () => {
	it("shows ranges and choices, and what may be left out", () => {
		assert.equal(
			signatureOf(TOOL),
			"volume=0..100 [angle=number -180..] [theme=light|dark] [text=string of 0..20 characters] [on=boolean] [any=JSON]",
		);
	});

	it("shows units and defaults, and nothing for arguments without", () => {
		assert.deepEqual(argumentsOf(TOOL), ["volume: Percent of full volume.", 'theme: (default: "light")']);
		assert.deepEqual(argumentsOf({ name: "x", inputSchema: { type: "object" } }), []);
	});
});
