import {
	type CompleteRequestParams,
	isInputRequiredResult,
	ProtocolError,
	ProtocolErrorCode,
	specTypeSchemas,
} from "@modelcontextprotocol/server";
import type { FoundPrompt } from "../catalog/catalog.js";
import { STATE_TEMPLATE } from "../catalog/state-resource.js";
import type { Client } from "./client.js";
import { type ClientRequest, type Method, method } from "./client-request.js";
import { promptFor } from "./contents.js";
import { requestError } from "./failures.js";

/** Suggestions that an answer may have: MCP "Completion Results". */
const MAX_SUGGESTIONS = 100;

/** The methods of prompts, and of suggestions for arguments of prompts and for variables of resources' templates. */
export const PROMPT_METHODS: Readonly<Record<string, Method>> = {
	"prompts/list": method(specTypeSchemas.PaginatedRequestParams, (params, { client }) => {
		const { items, next } = client.page(client.catalog.prompts, ({ name }) => name, { list: "prompts", params });
		return { prompts: items, ...next };
	}),
	"prompts/get": method(specTypeSchemas.GetPromptRequestParams, async ({ name, arguments: args }, request) => {
		const { client } = request;
		const { server, prompt } = findPrompt(client, name);
		try {
			const params = { name: prompt.name, ...(args && { arguments: args }) };
			const result = await client.gateway.asking.request(request, server, { method: "prompts/get", params });
			return isInputRequiredResult(result)
				? result
				: promptFor(result, client.revision, (uri) => client.catalog.clientUri(server, uri));
		} catch (error) {
			throw requestError(error, server, client.revision);
		}
	}),
	"completion/complete": method(specTypeSchemas.CompleteRequestParams, complete),
};

async function complete({ argument, context, ref: asked }: CompleteRequestParams, { client, signal }: ClientRequest) {
	if (asked.type === "ref/resource" && asked.uri === STATE_TEMPLATE.uriTemplate) {
		return { completion: { values: argument.name === "alias" ? aliasesOf(client, argument.value) : [] } };
	}
	const { server, ref } = findReference(client, asked);
	// Suggestions are useful only while a person types: never wait for an offline server.
	if (!server.online || server.connection?.declares("completions") !== true) {
		return { completion: { values: [] } };
	}
	const params = { ref, argument, ...(context && { context }) };
	try {
		return await server.request({ method: "completion/complete", params }, { signal });
	} catch (error) {
		throw requestError(error, server, client.revision);
	}
}

/** The aliases that the client may have begun to type. */
function aliasesOf({ catalog }: Client, typed: string): string[] {
	const aliases = catalog.servers.map(({ alias }) => alias);
	return aliases.filter((alias) => alias.startsWith(typed)).slice(0, MAX_SUGGESTIONS);
}

type Reference = { readonly type: "ref/prompt"; name: string } | { readonly type: "ref/resource"; uri: string };

/** The reference that a client wants completed, and its server. */
function findReference(client: Client, ref: Reference) {
	if (ref.type === "ref/prompt") {
		const { server, prompt } = findPrompt(client, ref.name);
		return { server, ref: { ...ref, name: prompt.name } };
	}
	const found = client.catalog.findResource(ref.uri);
	if (found === undefined) {
		throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown resource template: ${ref.uri}`);
	}
	return { server: found.server, ref: { ...ref, uri: found.uri } };
}

function findPrompt({ catalog }: Client, name: string): FoundPrompt {
	const found = catalog.findPrompt(name);
	if (found === undefined) {
		throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${name}`);
	}
	return found;
}
