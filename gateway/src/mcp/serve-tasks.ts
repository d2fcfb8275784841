import { setTimeout as delay } from "node:timers/promises";
import {
	type CallToolResult,
	type InputResponses,
	MissingRequiredClientCapabilityError,
	ProtocolError,
	ProtocolErrorCode,
	type ServerContext,
} from "@modelcontextprotocol/server";
import { type OrInput, REVISION_OF_STATELESS, type ServerTool } from "xs-mcp-manager/core";
import * as z from "zod";
import type { ClientServer } from "./client-server.js";
import { readParams } from "./read-params.js";
import type { RequestStates } from "./request-states.js";
import type { ExtensionMethods } from "./serve-extensions.js";
import type { Input, Task } from "./task.js";

/** The extension of SEP-2663. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

const TASK_ID = z.string().min(1).max(256);
const ID = z.looseObject({ taskId: TASK_ID });
const UPDATE = z.looseObject({ taskId: TASK_ID, inputResponses: z.record(z.string(), z.looseObject({})) });

/** The methods of SEP-2663. They check their parameters themselves. */
export const TASK_METHODS: ExtensionMethods = {
	"tasks/get": withTask(ID, (task) => task.details),
	"tasks/update": withTask(UPDATE, (task, { inputResponses }) => {
		task.answer(inputResponses as InputResponses);
		return {};
	}),
	"tasks/cancel": withTask(ID, (task) => {
		task.cancel();
		return {};
	}),
};

/** A method of a task, for the client whose it is. */
function withTask<Schema extends typeof ID>(
	schema: Schema,
	serve: (task: Task, params: z.output<Schema>) => object,
): ExtensionMethods[string] {
	return (params, client, { mcpReq }) => {
		if (client.revision < REVISION_OF_STATELESS) {
			throw new ProtocolError(ProtocolErrorCode.MethodNotFound, "Method not found");
		}
		if (!declaresTasks(client, mcpReq)) {
			throw missingTasks("This method");
		}
		// The SDK takes the input out of the parameters of every request.
		const { inputResponses } = mcpReq;
		const checked = readParams(schema, { ...(params as object), inputResponses });
		return serve(client.gateway.tasks.find(checked.taskId, client.catalog), checked);
	};
}

/** Whether a request declares that its client knows tasks. In earlier revisions the extension does not exist. */
export function declaresTasks(client: ClientServer, mcpReq: ServerContext["mcpReq"]): boolean {
	const { capabilities, session } = client.describe(mcpReq);
	return session === undefined && capabilities.extensions?.[TASKS_EXTENSION] !== undefined;
}

/**
 * Calls a tool for a client that knows tasks. The call becomes a task if its answer takes longer than the gateway's patience,
 * or at once if its server lists it as one that does. Without room for a task it is answered as any call.
 *
 * @param call makes the call, in the context of one request
 */
export async function callAsTask(
	client: ClientServer,
	context: ServerContext,
	tool: ServerTool | undefined,
	call: (context: ServerContext) => Promise<OrInput<CallToolResult>>,
): Promise<OrInput<CallToolResult>> {
	const { mcpReq } = context;
	const { tasks, requestStates } = client.gateway;
	let isTask = false;
	const task = tasks.create(client.describe(mcpReq).capabilities, async (of, input) =>
		call(await contextOf(context, of, { input, requestStates, isTask: () => isTask })),
	);
	const cancel = (): void => task.cancel();
	mcpReq.signal.addEventListener("abort", cancel, { once: true });
	const first = task.begin();
	const answered = first.then(
		() => true,
		() => true,
	);
	const { taskSupport = "forbidden" } = tool?.execution ?? {};
	const late = (): Promise<false> => delay(tasks.patience, false as const, { ref: false });
	const isSlow = taskSupport !== "forbidden" || !(await Promise.race([answered, late()]));
	if (!isSlow || mcpReq.signal.aborted || !tasks.keep(task, client.catalog)) {
		return await first;
	}
	isTask = true;
	mcpReq.signal.removeEventListener("abort", cancel);
	void task.follow(first);
	return { resultType: "task", ...task.summary } as unknown as CallToolResult;
}

interface RoundOptions {
	/** Undefined: the request's own. */
	readonly input: Input | undefined;
	readonly requestStates: RequestStates;
	/** Whether the client has its answer: that the call is a task. */
	readonly isTask: () => boolean;
}

/** A context for the call that outlives its request: with the task's signal, and the input that was given to the task. */
async function contextOf(context: ServerContext, task: Task, options: RoundOptions): Promise<ServerContext> {
	const { mcpReq } = context;
	const { input, requestStates, isTask } = options;
	const wantsProgress = mcpReq._meta?.progressToken !== undefined;
	const notify: typeof mcpReq.notify = async (notification) => {
		const isProgress = notification.method === "notifications/progress";
		if (isProgress) {
			task.progressed(notification.params as Readonly<Record<string, unknown>>);
		}
		if (!isTask() && (!isProgress || wantsProgress)) {
			await mcpReq.notify(notification);
		}
	};
	// With a token, progress is asked for: each report gives the server more time.
	const _meta = { ...mcpReq._meta, progressToken: mcpReq._meta?.progressToken ?? task.id };
	const own = { ...mcpReq, signal: task.signal, notify, _meta };
	if (input === undefined) {
		return { ...context, mcpReq: own };
	}
	const { inputResponses, requestState } = input;
	const state = requestState === undefined ? undefined : await requestStates.verify(requestState, context);
	return {
		...context,
		mcpReq: { ...own, inputResponses, requestState: (() => state) as typeof mcpReq.requestState },
	};
}

/** The error for what only clients that know tasks can do: -32021. */
export function missingTasks(what: string): ProtocolError {
	return new MissingRequiredClientCapabilityError(
		{ requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
		`${what} needs a client that declares the extension ${TASKS_EXTENSION}`,
	);
}
