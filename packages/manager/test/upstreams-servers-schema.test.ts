import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import * as z from "zod";
import { readServers } from "../src/upstreams/read-servers.js";
import { HOST_SERVER, LISTED_SERVER, OPTIONS } from "../src/upstreams/server-config.js";

/** The schema of a servers file. */
const FILE = z.object({
	version: z.string().optional(),
	servers: z.union([z.array(LISTED_SERVER), z.record(z.string(), HOST_SERVER)]).optional(),
	mcpServers: z
		.record(z.string(), HOST_SERVER)
		.optional()
		.describe("Servers by id, as hosts of MCP clients write them"),
	options: OPTIONS.optional().describe("What applies to servers that say nothing else"),
});

/** The JSON Schema of a file of servers, for editors: mcp-servers.schema.json. */
function serversSchema(): object {
	return { title: "MCP servers of xs-mcp-gateway", ...z.toJSONSchema(FILE, { io: "input" }) };
}

const read = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), "utf8");

describe("the JSON schema of a file of servers", () => {
	it("is the one in mcp-servers.schema.json", () => {
		assert.deepEqual(JSON.parse(read("mcp-servers.schema.json")), JSON.parse(JSON.stringify(serversSchema())));
	});

	it("accepts the example, which the gateway reads without problems", () => {
		const example = read("mcp-servers.json.example");
		const validate = new Ajv2020().compile(JSON.parse(read("mcp-servers.schema.json")));
		assert.ok(validate(JSON.parse(example)), JSON.stringify(validate.errors));
		assert.deepEqual(readServers(example, "mcp-servers.json", { HOME: "/home/me" }).problems, []);
	});
});
