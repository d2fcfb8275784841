import * as z from "zod";
import type { ClientServer } from "./client-server.js";
import { EVENT_METHODS, EVENTS_EXTENSION } from "./serve-events.js";
import { type Caching, SKILL_METHODS, SKILLS_EXTENSION } from "./serve-skills.js";
import { TASK_METHODS, TASKS_EXTENSION } from "./serve-tasks.js";

/** The methods themselves check their parameters. */
const PARAMS = z.unknown();

/**
 * Serves the methods of MCP's extensions.
 *
 * @param caching how long the client may keep lists
 * @returns the extensions, as capabilities. Clients of today look for events in either of two places
 */
export function serveExtensions(served: ClientServer, caching: Caching): object {
	const { catalog } = served;
	const { events } = served.gateway;
	for (const [method, serve] of Object.entries(SKILL_METHODS)) {
		served.setRequestHandler(method, { params: PARAMS }, async (params) => ({
			...(await serve(params, catalog, caching)),
		}));
	}
	for (const [method, serve] of Object.entries(TASK_METHODS)) {
		served.setRequestHandler(method, { params: PARAMS }, (params, { mcpReq }) => ({
			...serve(params, served, mcpReq),
		}));
	}
	if (events !== undefined) {
		for (const [method, serve] of Object.entries(EVENT_METHODS)) {
			served.setRequestHandler(method, { params: PARAMS }, async (params, context) => {
				return { ...(await serve({ events, viewer: catalog, params, context })) };
			});
		}
	}
	return {
		extensions: {
			...catalog.extensions.extensions,
			[SKILLS_EXTENSION]: {},
			[TASKS_EXTENSION]: {},
			...(events !== undefined && { [EVENTS_EXTENSION]: {} }),
		},
		...(events !== undefined && { events: {} }),
	};
}
