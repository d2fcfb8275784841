import { setTimeout as delay } from "node:timers/promises";
import {
	type CallToolResult,
	type InputResponses,
	MissingRequiredClientCapabilityError,
	type ProtocolError,
} from "@modelcontextprotocol/server";
import type { OrInput, ServerTool } from "xs-mcp-manager/core";
import * as z from "zod";
import { ClientRequest, type Method, method, TASKS_EXTENSION } from "./client-request.js";
import type { Input, Task } from "./tasks.js";

const TASK_ID = z.string().min(1).max(256);
const ID = z.looseObject({ taskId: TASK_ID });
const UPDATE = z.looseObject({ taskId: TASK_ID, inputResponses: z.record(z.string(), z.looseObject({})) });

/** The methods of SEP-2663. */
export const TASK_METHODS: Readonly<Record<string, Method>> = {
	"tasks/get": taskMethod(ID, (task) => task.details),
	"tasks/update": taskMethod(UPDATE, (task, { inputResponses }) => {
		task.answer(inputResponses as InputResponses);
		return {};
	}),
	"tasks/cancel": taskMethod(ID, (task) => {
		task.cancel();
		return {};
	}),
};

/** A method of a task, for the client whose it is. In earlier revisions the extension does not exist. */
function taskMethod<Schema extends typeof ID>(
	schema: Schema,
	serve: (task: Task, params: z.output<Schema>) => object,
): Method {
	const checked = method<z.output<Schema>>(schema, (params, { client }) =>
		serve(client.gateway.tasks.find(params.taskId, client.catalog), params),
	);
	return {
		era: "stateless",
		serve(request) {
			if (!request.declaresTasks) {
				throw missingTasks("This method");
			}
			return checked.serve(request);
		},
	};
}

/**
 * Calls a tool for a client that knows tasks. The call becomes a task if its answer takes longer than the gateway's patience,
 * or at once if its server lists it as one that does. Without room for a task it is answered as any call.
 *
 * @param call makes the call for one request
 */
export async function callAsTask(
	request: ClientRequest,
	tool: ServerTool | undefined,
	call: (request: ClientRequest) => Promise<OrInput<CallToolResult>>,
): Promise<OrInput<CallToolResult>> {
	const { client, signal } = request;
	const { tasks } = client.gateway;
	const task = tasks.create(request.capabilities, async (of, input) => call(new TaskRequest(request, of, input)));
	const cancel = (): void => task.cancel();
	signal.addEventListener("abort", cancel, { once: true });
	const first = task.start();
	const answered = first.then(
		() => true,
		() => true,
	);
	const { taskSupport = "forbidden" } = tool?.execution ?? {};
	const late = (): Promise<false> => delay(tasks.patience, false as const, { ref: false });
	const isSlow = taskSupport !== "forbidden" || !(await Promise.race([answered, late()]));
	if (!isSlow || signal.aborted || !tasks.keep(task, client.catalog)) {
		return await first;
	}
	task.isAnswered = true;
	signal.removeEventListener("abort", cancel);
	void task.follow(first);
	return { resultType: "task", ...task.summary } as unknown as CallToolResult;
}

/** A request that outlives its client's: with the task's signal, and the input that was given to the task. */
class TaskRequest extends ClientRequest {
	/** Progress is always wanted: each report gives the server more time. */
	override readonly onProgress: ClientRequest["onProgress"];
	readonly #task: Task;

	constructor(request: ClientRequest, task: Task, input: Input | undefined) {
		const message = { ...request.message, params: { ...request.params, ...input } };
		super(request.client, message, request.channel, task.signal);
		this.#task = task;
		this.onProgress = (progress) => {
			task.progressed(progress);
			if (!task.isAnswered) {
				request.onProgress?.(progress);
			}
		};
	}

	override notify(method: string, params?: object): void {
		if (!this.#task.isAnswered) {
			super.notify(method, params);
		}
	}
}

/** The error for what only clients that know tasks can do: -32021. */
export function missingTasks(what: string): ProtocolError {
	return new MissingRequiredClientCapabilityError(
		{ requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
		`${what} needs a client that declares the extension ${TASKS_EXTENSION}`,
	);
}
