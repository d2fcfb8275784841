import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { readServers } from "../../src/upstreams/read-servers.js";
import { serversSchema } from "../../src/upstreams/servers-schema.js";

const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), "utf8");

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
