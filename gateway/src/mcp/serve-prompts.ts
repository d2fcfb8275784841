import { isInputRequiredResult, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { FoundPrompt } from "../catalog/catalog.js";
import { STATE_TEMPLATE } from "../catalog/state-resource.js";
import type { ClientServer } from "./client-server.js";
import { promptFor } from "./contents.js";
import { requestError } from "./failures.js";

/** Suggestions that an answer may have: MCP "Completion Results". */
const MAX_SUGGESTIONS = 100;

/** Serves the prompts of a client's catalog. */
export function servePrompts(client: ClientServer): void {
	const { catalog } = client;
	client.setRequestHandler("prompts/list", ({ params }) => {
		const { items, next } = client.page(catalog.prompts, ({ name }) => name, { list: "prompts", params });
		return { prompts: items, ...next };
	});
	client.setRequestHandler("prompts/get", async ({ params }, context) => {
		const { server, prompt } = findPrompt(client, params.name);
		try {
			const result = await client.forward(context, server, prompt.name, (options) =>
				server.request({ method: "prompts/get", params: { ...params, name: prompt.name } }, options),
			);
			return isInputRequiredResult(result)
				? result
				: promptFor(result, client.revision, (uri) => catalog.clientUri(server, uri));
		} catch (error) {
			throw requestError(error, server, client.revision);
		}
	});
}

/** Serves suggestions for arguments of prompts, and for variables of resources' templates. */
export function serveCompletion(client: ClientServer): void {
	client.setRequestHandler("completion/complete", async ({ params }, { mcpReq }) => {
		const { argument, context, ref: asked } = params;
		if (asked.type === "ref/resource" && asked.uri === STATE_TEMPLATE.uriTemplate) {
			return { completion: { values: argument.name === "alias" ? aliasesOf(client, argument.value) : [] } };
		}
		const { server, ref } = findReference(client, asked);
		// Suggestions are useful only while a person types: never wait for an offline server.
		if (!server.online || server.connection?.declares("completions") !== true) {
			return { completion: { values: [] } };
		}
		const toComplete = { ref, argument, ...(context && { context }) };
		try {
			return await server.request({ method: "completion/complete", params: toComplete }, { signal: mcpReq.signal });
		} catch (error) {
			throw requestError(error, server, client.revision);
		}
	});
}

/** The aliases that the client may have begun to type. */
function aliasesOf({ catalog }: ClientServer, typed: string): string[] {
	const aliases = catalog.servers.map(({ alias }) => alias);
	return aliases.filter((alias) => alias.startsWith(typed)).slice(0, MAX_SUGGESTIONS);
}

type Reference = { readonly type: "ref/prompt"; name: string } | { readonly type: "ref/resource"; uri: string };

/** The reference that a client wants completed, and its server. */
function findReference(client: ClientServer, ref: Reference) {
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

function findPrompt({ catalog }: ClientServer, name: string): FoundPrompt {
	const found = catalog.findPrompt(name);
	if (found === undefined) {
		throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${name}`);
	}
	return found;
}
