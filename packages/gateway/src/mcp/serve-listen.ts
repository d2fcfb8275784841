import { ProtocolError, ProtocolErrorCode, SUBSCRIPTION_ID_META_KEY } from "@modelcontextprotocol/server";
import * as z from "zod";
import type { Catalog, CatalogChange } from "../catalog/catalog.js";
import { type ClientRequest, type Method, method } from "./client-request.js";
import { missingTasks } from "./serve-tasks.js";
import type { Task } from "./tasks.js";

/** Requests to listen that are followed at the same time with one token. */
const MAX_LISTENS = 1_000;

/** Resources that a client may name in one `subscriptions/listen`. */
const MAX_LISTENED = 1_000;

/** Tasks that one stream follows. */
const MAX_FOLLOWED = 100;

/** The SDK's schema knows no tasks. */
const LISTEN = z.looseObject({
	notifications: z.looseObject({
		toolsListChanged: z.boolean().optional(),
		resourcesListChanged: z.boolean().optional(),
		promptsListChanged: z.boolean().optional(),
		resourceSubscriptions: z.array(z.string()).optional(),
		taskIds: z.array(z.unknown()).optional(),
	}),
});

type Filter = z.output<typeof LISTEN>["notifications"];

/** Streams that are open, by the catalog of their clients. */
const openStreams = new WeakMap<Catalog, number>();

/**
 * Serves `subscriptions/listen` (2026-07-28): changes of lists, updates of resources, and the state of tasks. A stream of
 * tasks alone ends with the last of them.
 */
export const LISTEN_METHODS: Readonly<Record<string, Method>> = {
	"subscriptions/listen": method(
		LISTEN,
		async ({ notifications }, request) => {
			const { catalog } = request.client;
			if (notifications.taskIds !== undefined && !request.declaresTasks) {
				throw missingTasks("taskIds");
			}
			const open = openStreams.get(catalog) ?? 0;
			if (open >= MAX_LISTENS) {
				throw new ProtocolError(ProtocolErrorCode.InternalError, `too many open streams (limit ${MAX_LISTENS})`);
			}
			openStreams.set(catalog, open + 1);
			try {
				await listen(notifications, request);
			} finally {
				openStreams.set(catalog, (openStreams.get(catalog) ?? 1) - 1);
			}
			return { _meta: { [SUBSCRIPTION_ID_META_KEY]: request.id } };
		},
		"stateless",
	),
};

/** Notifies a client of changes until it disconnects. If it follows only tasks, until the last one has ended. */
function listen(filter: Filter, request: ClientRequest): Promise<void> {
	const { client, signal } = request;
	const uris = filter.resourceSubscriptions?.slice(0, MAX_LISTENED) ?? [];
	const followed = new Set(uris);
	const tasks = (filter.taskIds ?? []).slice(0, MAX_FOLLOWED).flatMap((id) => findTask(request, id) ?? []);
	const wanted: Filter = {
		...(filter.toolsListChanged && { toolsListChanged: true }),
		...(filter.resourcesListChanged && { resourcesListChanged: true }),
		...(filter.promptsListChanged && { promptsListChanged: true }),
		...(uris.length > 0 && { resourceSubscriptions: uris }),
		...(tasks.length > 0 && { taskIds: tasks.map(({ id }) => id) }),
	};
	const notify = (method: string, params: object = {}): void =>
		request.notify(method, { ...params, _meta: { [SUBSCRIPTION_ID_META_KEY]: request.id } });
	const changed = (change: CatalogChange): void => {
		if (change.kind !== "updated") {
			if (wanted[`${change.kind}ListChanged`] === true) {
				notify(`notifications/${change.kind}/list_changed`);
			}
		} else if (followed.has(change.uri)) {
			notify("notifications/resources/updated", { uri: change.uri });
		}
	};
	return new Promise((resolve) => {
		/** Functions that stop following. */
		const ends: (() => void)[] = [];
		const end = (): void => {
			for (const each of ends) {
				each();
			}
			resolve();
		};
		const isOfTasks = Object.keys(wanted).every((name) => name === "taskIds");
		const endIfDone = (): void => {
			if (signal.aborted || (isOfTasks && tasks.every((task) => task.hasEnded))) {
				end();
			}
		};
		notify("notifications/subscriptions/acknowledged", { notifications: wanted });
		ends.push(client.catalog.onChange(changed));
		for (const uri of followed) {
			// The request has been accepted by now.
			const following = follow(client.catalog, uri).catch(({ message }: Error): undefined => {
				client.warn(`${uri} is not followed: ${message}`);
			});
			ends.push(() => void following.then((stop) => stop?.()));
		}
		for (const task of tasks) {
			const tell = (): void => notify("notifications/tasks", task.details);
			const onChange = (): void => {
				tell();
				endIfDone();
			};
			tell();
			task.on("change", onChange);
			ends.push(() => task.off("change", onChange));
		}
		signal.addEventListener("abort", end, { once: true });
		endIfDone();
	});
}

/**
 * Subscribes to updates of a resource. States of servers come from the gateway itself.
 *
 * Rejects with the SDK's ProtocolError if the server rejects it, and with ServerError if it does not answer.
 *
 * @returns a function that stops it; undefined if the resource does not exist
 */
export async function follow(catalog: Catalog, uri: string): Promise<(() => void) | undefined> {
	if (catalog.findState(uri) !== undefined) {
		return () => {};
	}
	const found = catalog.findResource(uri);
	return await found?.server.subscriptions.add(found.uri);
}

function findTask({ client }: ClientRequest, id: unknown): Task | undefined {
	try {
		return typeof id === "string" ? client.gateway.tasks.find(id, client.catalog) : undefined;
	} catch {
		return undefined;
	}
}
