import type { ServerContext } from "@modelcontextprotocol/server";
import * as z from "zod";
import type { ClientServer } from "./client-server.js";
import { EVENT_METHODS, EVENTS_EXTENSION } from "./serve-events.js";
import { SKILL_METHODS, SKILLS_EXTENSION } from "./serve-skills.js";
import { TASK_METHODS, TASKS_EXTENSION } from "./serve-tasks.js";

/** The methods of an extension, which check their parameters themselves. */
export type ExtensionMethods = Readonly<
	Record<string, (params: unknown, client: ClientServer, context: ServerContext) => object | Promise<object>>
>;

/**
 * Serves the methods of MCP's extensions.
 *
 * @returns the extensions, as capabilities. Clients of today look for events in either of two places
 */
export function serveExtensions(client: ClientServer): object {
	const hasEvents = client.gateway.events !== undefined;
	const methods: ExtensionMethods = { ...SKILL_METHODS, ...TASK_METHODS, ...(hasEvents && EVENT_METHODS) };
	for (const [method, serve] of Object.entries(methods)) {
		client.setRequestHandler(method, { params: z.unknown() }, async (params, context) => ({
			...(await serve(params, client, context)),
		}));
	}
	const own = { [SKILLS_EXTENSION]: {}, [TASKS_EXTENSION]: {}, ...(hasEvents && { [EVENTS_EXTENSION]: {} }) };
	return { extensions: { ...client.catalog.extensions.extensions, ...own }, ...(hasEvents && { events: {} }) };
}
