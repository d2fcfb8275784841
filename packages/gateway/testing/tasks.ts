import type { TestContext } from "node:test";
import * as z from "zod";
import { until } from "../../../host-test/support/testing.js";
import { type ClientSide, connectClient } from "./gateway.js";
import { postStateless } from "./post-stateless.js";

export const TASKS = "io.modelcontextprotocol/tasks";

export const KNOWS_TASKS = { elicitation: { form: {} }, extensions: { [TASKS]: {} } };

const TASK = z.looseObject({ taskId: z.string(), status: z.string() });

/** Calls a tool as a client that knows tasks does. The official client does not accept the answer. */
export async function callForTask(side: Pick<ClientSide, "clientUrl">, name: string, args: object = {}) {
	const params = { name, arguments: args };
	const { message } = await postStateless(side.clientUrl(), "tools/call", params, { capabilities: KNOWS_TASKS });
	return message;
}

export async function connectForTasks(t: TestContext, url: URL, capabilities: object = KNOWS_TASKS) {
	const client = await connectClient(t, url, "2026-07-28", { capabilities });
	const get = async (taskId: string) => await client.request({ method: "tasks/get", params: { taskId } }, TASK);
	return {
		client,
		get,
		async in(taskId: string, ...states: readonly string[]) {
			let task = await get(taskId);
			await until(async () => {
				task = await get(taskId);
				return states.includes(task.status);
			}, states.join(" or "));
			return task;
		},
		update: async (taskId: string, inputResponses: object) =>
			await client.request({ method: "tasks/update", params: { taskId, inputResponses } }, z.looseObject({})),
		cancel: async (taskId: string) =>
			await client.request({ method: "tasks/cancel", params: { taskId } }, z.looseObject({})),
	};
}
