import { GATEWAY_TITLE } from "../../gateway/src/version.js";
import { ProgramError } from "../../toolchain/program.js";

/** The revision of server.json that is written: https://github.com/modelcontextprotocol/registry, docs/reference/server-json. */
const SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/** Most characters of a description. */
const MAX_DESCRIPTION = 100;

/** Members of package.json that server.json needs. */
export interface PublishedPackage {
	readonly name: string;
	readonly description: string;
	/** The server's name in the registry, whose namespace the publisher owns: `io.github.OWNER/xs-mcp-gateway`. */
	readonly mcpName?: string;
	readonly repository?: { readonly url: string };
}

/**
 * The entry of the gateway's bridge in the MCP registry.
 *
 * @throws ProgramError if package.json has no usable `mcpName` or `repository`, or too long a description
 */
export function serverJson(source: PublishedPackage, version: string): object {
	const { name, description, mcpName = "", repository } = source;
	if (!/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/.test(mcpName)) {
		throw refusal(`mcpName is ${mcpName === "" ? "not set" : `"${mcpName}"`}`, "io.github.OWNER/xs-mcp-gateway");
	}
	const url = /^(?:git\+)?(https:\/\/.+?)(?:\.git)?$/.exec(repository?.url ?? "")?.[1];
	if (url === undefined) {
		throw refusal(
			"repository has no https URL",
			'{ "type": "git", "url": "git+https://github.com/OWNER/REPOSITORY.git" }',
		);
	}
	if (description.length > MAX_DESCRIPTION) {
		throw refusal(`description has ${description.length} characters`, `at most ${MAX_DESCRIPTION}`);
	}
	return {
		$schema: SCHEMA,
		name: mcpName,
		title: GATEWAY_TITLE,
		description,
		repository: { url, source: new URL(url).hostname.replace(/\.com$/, "") },
		version,
		packages: [
			{
				registryType: "npm",
				identifier: name,
				version,
				transport: { type: "stdio" },
				packageArguments: [{ type: "positional", value: "stdio" }],
				environmentVariables: [
					{ name: "XS_MCP_GATEWAY_URL", description: "URL of the running gateway", default: "http://127.0.0.1:8766" },
					{ name: "XS_MCP_GATEWAY_TOKEN", description: "Token of a client, if the gateway has tokens", isSecret: true },
				],
			},
		],
	};
}

function refusal(problem: string, expected: string): ProgramError {
	return new ProgramError(`no server.json: in gateway/package.json, ${problem} (expected: ${expected})`);
}
