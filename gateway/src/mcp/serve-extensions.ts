import * as z from "zod";
import type { EventService } from "../events/event-service.js";
import type { RequestStates } from "./request-states.js";
import { EVENT_METHODS, EVENTS_EXTENSION } from "./serve-events.js";
import { type Caching, SKILL_METHODS, SKILLS_EXTENSION } from "./serve-skills.js";
import { type ClientTasks, TASK_METHODS, TASKS_EXTENSION } from "./serve-tasks.js";
import type { ServedClient } from "./served-client.js";
import type { Tasks } from "./tasks.js";

export interface ExtensionOptions {
	/** The events of devices. Default: none are served. */
	readonly events?: EventService | undefined;
	/** The tasks of clients. Default: calls do not become tasks. */
	readonly tasks?: Tasks | undefined;
	/** The client's token: its hash. Absent without a token. */
	readonly holder?: string | undefined;
	readonly requestStates: RequestStates;
}

/** The methods themselves check their parameters. */
const PARAMS = z.unknown();

/**
 * Serves the methods of MCP's extensions.
 *
 * @param caching how long the client may keep lists
 * @returns the extensions, as capabilities. Clients of today look for events in either of two places
 */
export function serveExtensions(served: ServedClient, options: ExtensionOptions, caching: Caching): object {
	const { catalog } = served;
	const { events, holder } = options;
	const tasks = clientTasks(served, options);
	for (const [method, serve] of Object.entries(SKILL_METHODS)) {
		served.setRequestHandler(method, { params: PARAMS }, async (params) => ({
			...(await serve(params, catalog, caching)),
		}));
	}
	if (tasks !== undefined) {
		for (const [method, serve] of Object.entries(TASK_METHODS)) {
			served.setRequestHandler(method, { params: PARAMS }, (params, { mcpReq }) => ({
				...serve(params, tasks, mcpReq),
			}));
		}
	}
	if (events !== undefined) {
		for (const [method, serve] of Object.entries(EVENT_METHODS)) {
			served.setRequestHandler(method, { params: PARAMS }, async (params, context) => {
				const viewer = { access: { ...catalog.access, holder }, server: catalog.server };
				return { ...(await serve({ events, viewer, holder, params, context })) };
			});
		}
	}
	return {
		extensions: {
			...catalog.extensions.extensions,
			[SKILLS_EXTENSION]: {},
			...(tasks !== undefined && { [TASKS_EXTENSION]: {} }),
			...(events !== undefined && { [EVENTS_EXTENSION]: {} }),
		},
		...(events !== undefined && { events: {} }),
	};
}

/** The gateway's tasks, as one client uses them. */
export function clientTasks(
	served: ServedClient,
	{ tasks, requestStates, holder }: ExtensionOptions,
): ClientTasks | undefined {
	const { access, server } = served.catalog;
	return tasks && { tasks, requestStates, client: { holder, access, server }, revision: () => served.revision };
}
