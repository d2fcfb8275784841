import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { argumentsOf, signatureOf } from "../../src/cli/tool-commands.js";

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
		assert.deepEqual(argumentsOf(TOOL), ["volume: Percent of full volume.", 'theme: Default: "light".']);
		assert.deepEqual(argumentsOf({ name: "x", inputSchema: { type: "object" } }), []);
	});
});
