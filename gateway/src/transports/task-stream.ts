import type { ServerResponse } from "node:http";
import { CLIENT_CAPABILITIES_META_KEY, MissingRequiredClientCapabilityError } from "@modelcontextprotocol/server";
import { isObject } from "../firmware.js";
import { TASKS_EXTENSION } from "../mcp/serve-tasks.js";
import type { Task } from "../mcp/task.js";
import type { TaskClient, Tasks } from "../mcp/tasks.js";

/** The member of `_meta` with the id of the request that a notification belongs to. */
const SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId";

/** Tasks that one stream follows. */
const MAX_FOLLOWED = 100;

/** Bytes that may wait for a client that reads slowly. */
const MAX_UNSENT_BYTES = 16_000_000;

/** Milliseconds between signs of life. */
const KEEP_ALIVE = 15_000;

/** A `subscriptions/listen` for tasks. */
export interface TaskListen {
	readonly id: unknown;
	readonly taskIds: readonly unknown[];
	/** Whether it asks for nothing else. */
	readonly isAlone: boolean;
	/** Whether its client declares that it knows tasks. */
	readonly knowsTasks: boolean;
}

/** What a `subscriptions/listen` asks of tasks; undefined for one that does not, and for any other message. */
export function taskListenOf(message: unknown): TaskListen | undefined {
	const params = isObject(message) && message.method === "subscriptions/listen" ? message.params : undefined;
	const notifications = isObject(params) ? params.notifications : undefined;
	if (!isObject(params) || !isObject(notifications) || !Array.isArray(notifications.taskIds)) {
		return undefined;
	}
	const capabilities = isObject(params._meta) ? params._meta[CLIENT_CAPABILITIES_META_KEY] : undefined;
	const extensions = isObject(capabilities) ? capabilities.extensions : undefined;
	return {
		id: (message as { readonly id?: unknown }).id,
		taskIds: notifications.taskIds,
		isAlone: Object.keys(notifications).length === 1,
		knowsTasks: isObject(extensions) && extensions[TASKS_EXTENSION] !== undefined,
	};
}

/** Rejects a client that asks for tasks and does not declare them: SEP-2663. */
export function rejectTaskListen({ id }: TaskListen, response: ServerResponse): void {
	const requiredCapabilities = { extensions: { [TASKS_EXTENSION]: {} } };
	const { code, message, data } = new MissingRequiredClientCapabilityError({ requiredCapabilities });
	response.writeHead(400, { "Content-Type": "application/json" });
	response.end(JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, data } }));
}

/**
 * Tells a client of its tasks until all have ended: each at once, and with every change. The SDK's own streams know no tasks.
 */
export function streamTasks({ id, taskIds }: TaskListen, response: ServerResponse, tasks: Tasks, client: TaskClient) {
	const followed = taskIds.slice(0, MAX_FOLLOWED).flatMap((taskId) => findTask(tasks, client, taskId) ?? []);
	response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-cache, no-transform" });
	const write = (message: object): void => {
		response.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
		if (response.writableLength > MAX_UNSENT_BYTES) {
			response.destroy();
		}
	};
	const _meta = { [SUBSCRIPTION_ID]: id };
	const notify = (method: string, params: object): void => write({ method, params: { ...params, _meta } });
	const stop = (): void => {
		clearInterval(alive);
		for (const { task, onChange } of listeners) {
			task.off("change", onChange);
		}
	};
	const endIfDone = (): void => {
		if (followed.every(({ hasEnded }) => hasEnded)) {
			stop();
			write({ id, result: { resultType: "complete", _meta } });
			response.end();
		}
	};
	const onChangeOf = (task: Task) => (): void => {
		notify("notifications/tasks", task.details);
		endIfDone();
	};
	const listeners = followed.map((task) => ({ task, onChange: onChangeOf(task) }));
	const alive = setInterval(() => void response.write(": keepalive\n\n"), KEEP_ALIVE).unref();
	response.once("close", stop);
	const taskIdsFound = followed.map((task) => task.id);
	const notifications = taskIdsFound.length === 0 ? {} : { taskIds: taskIdsFound };
	notify("notifications/subscriptions/acknowledged", { notifications });
	for (const { task, onChange } of listeners) {
		task.on("change", onChange);
		notify("notifications/tasks", task.details);
	}
	endIfDone();
}

function findTask(tasks: Tasks, client: TaskClient, id: unknown): Task | undefined {
	try {
		return typeof id === "string" ? tasks.find(id, client) : undefined;
	} catch {
		return undefined;
	}
}
