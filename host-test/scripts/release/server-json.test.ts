import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { Ajv } from "ajv";
import { type PublishedPackage, serverJson } from "../../../scripts/release/server-json.js";
import { ProgramError } from "../../../toolchain/program.js";

const ROOT = new URL("../../../", import.meta.url);

const GATEWAY: PublishedPackage = JSON.parse(readFileSync(new URL("gateway/package.json", ROOT), "utf8"));

const OWNED = {
	mcpName: "io.github.example/xs-mcp-gateway",
	repository: { url: "git+https://github.com/example/xs-mcp.git" },
};

const TEXT = { type: "string", minLength: 1 };

/**
 * The registry's rules of 2025-12-11, its newest release, for the fields that are written here. They are in our words, because
 * the official schema is not part of this repository, and stricter: no other members. Compared with it on 2026-11-23.
 */
const RULES = {
	type: "object",
	required: ["$schema", "name", "description", "version", "packages"],
	additionalProperties: false,
	properties: {
		$schema: { const: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json" },
		name: { type: "string", minLength: 3, maxLength: 200, pattern: "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$" },
		title: { ...TEXT, maxLength: 100 },
		description: { ...TEXT, maxLength: 100 },
		version: { ...TEXT, maxLength: 255, pattern: "^\\d+\\.\\d+\\.\\d+" },
		repository: {
			type: "object",
			required: ["url", "source"],
			additionalProperties: false,
			properties: { url: { type: "string", pattern: "^https://" }, source: { enum: ["github", "gitlab"] } },
		},
		packages: {
			type: "array",
			items: {
				type: "object",
				required: ["registryType", "identifier", "version", "transport"],
				additionalProperties: false,
				properties: {
					registryType: { const: "npm" },
					identifier: TEXT,
					version: { ...TEXT, not: { const: "latest" } },
					transport: { type: "object", required: ["type"], properties: { type: { const: "stdio" } } },
					packageArguments: {
						type: "array",
						items: {
							type: "object",
							required: ["type", "value"],
							properties: { type: { const: "positional" }, value: TEXT },
						},
					},
					environmentVariables: {
						type: "array",
						items: {
							type: "object",
							required: ["name"],
							additionalProperties: false,
							properties: { name: TEXT, description: TEXT, default: TEXT, isSecret: { type: "boolean" } },
						},
					},
				},
			},
		},
	},
};

describe("server.json", () => {
	it("keeps the registry's rules", () => {
		const validate = new Ajv({ strict: false, allErrors: true }).compile(RULES);
		assert.ok(validate(serverJson({ ...GATEWAY, ...OWNED }, "1.2.3")), JSON.stringify(validate.errors));
	});

	it("names the repository as a browser opens it", () => {
		const { repository } = serverJson({ ...GATEWAY, ...OWNED }, "1.2.3") as { repository: object };
		assert.deepEqual(repository, { url: "https://github.com/example/xs-mcp", source: "github" });
	});

	it("is refused without a name, a repository, or with a description that is too long", () => {
		const refused = (change: object, pattern: RegExp): void =>
			assert.throws(
				() => serverJson({ ...GATEWAY, ...OWNED, ...change }, "1.2.3"),
				(error) => error instanceof ProgramError && pattern.test(error.message),
			);
		refused({ mcpName: undefined }, /in gateway\/package.json, mcpName is not set \(expected: io\.github\.OWNER/);
		refused({ mcpName: "xs-mcp" }, /mcpName is "xs-mcp"/);
		refused({ repository: undefined }, /repository has no https URL/);
		refused({ repository: { url: "git@github.com:example/xs-mcp.git" } }, /repository has no https URL/);
		refused({ description: "x".repeat(101) }, /description has 101 characters/);
	});
});
