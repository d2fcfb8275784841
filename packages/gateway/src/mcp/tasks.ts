import { randomBytes, randomUUID } from "node:crypto";
import { type ClientCapabilities, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { Catalog } from "../catalog/catalog.js";
import { Task, type TaskCall } from "./task.js";

/** Tasks in all, and those with one token or, together, of all clients without one. */
const MAX_TASKS = 1_000;
const MAX_TASKS_OF_CLIENT = 100;

/** Bytes of a result that is kept, and of all of them. */
const MAX_RESULT_BYTES = 8_000_000;
const MAX_KEPT_BYTES = 64_000_000;

/** A client, as tasks are bound to it: its token, and the only server if it uses the path of one. */
export type TaskClient = Pick<Catalog, "access" | "server">;

interface Kept {
	readonly task: Task;
	readonly client: TaskClient;
	readonly timer: NodeJS.Timeout;
}

/** The tasks of all clients. */
export type Tasks = ReturnType<typeof makeTasks>;

/**
 * Keeps the tasks of all clients (SEP-2663), in memory: a client finds its own, with the same token on the same path.
 *
 * @param ttl milliseconds for which a task is kept, from its creation
 * @param patience milliseconds after which a call that has no answer becomes a task
 */
export function makeTasks(ttl = 3_600_000, patience = 2_000) {
	/** Prefix of this process's ids: distinguishes a task of another process from an id that never existed. */
	const prefix = randomBytes(6).toString("hex");
	const tasks = new Map<string, Kept>();
	let bytes = 0;

	const ended = (task: Task): void => {
		if (task.bytes > MAX_RESULT_BYTES) {
			task.dropResult(`the result has ${task.bytes} bytes: at most ${MAX_RESULT_BYTES} are kept`);
		}
		bytes += task.bytes;
		while (bytes > MAX_KEPT_BYTES && dropEnded([...tasks.values()].filter((each) => each.task !== task))) {
			// The oldest result was dropped.
		}
	};

	/** Drops the oldest of these that has ended; false if none has. */
	const dropEnded = (kept: readonly Kept[]): boolean => {
		const oldest = kept.find(({ task }) => task.hasEnded)?.task;
		if (oldest !== undefined) {
			drop(oldest);
		}
		return oldest !== undefined;
	};

	const drop = (task: Task): void => {
		const kept = tasks.get(task.id);
		tasks.delete(task.id);
		clearTimeout(kept?.timer);
		bytes -= task.bytes;
		task.cancel();
	};

	return {
		/** Milliseconds after which a call that has no answer becomes a task. */
		patience,
		/** Makes a task, which is not kept yet. */
		create: (capabilities: ClientCapabilities, call: TaskCall): Task =>
			new Task(`${prefix}.${randomUUID()}`, ttl, capabilities, call),
		/**
		 * Keeps a task. At the limit, it replaces the client's oldest task that has ended.
		 *
		 * @returns whether there was room
		 */
		keep(task: Task, client: TaskClient): boolean {
			const owner = ownerOf(client);
			const ofOwner = [...tasks.values()].filter((each) => ownerOf(each.client) === owner);
			if (ofOwner.length >= MAX_TASKS_OF_CLIENT && !dropEnded(ofOwner)) {
				return false;
			}
			if (tasks.size >= MAX_TASKS && !dropEnded([...tasks.values()])) {
				return false;
			}
			const timer = setTimeout(() => drop(task), ttl).unref();
			tasks.set(task.id, { task, client, timer });
			task.on("change", () => task.hasEnded && tasks.has(task.id) && ended(task));
			return true;
		},
		/**
		 * The task of this id.
		 *
		 * @throws ProtocolError if the task does not exist or belongs to another client
		 */
		find(id: string, client: TaskClient): Task {
			const kept = tasks.get(id);
			if (kept !== undefined && mayUse(client, kept.client)) {
				return kept.task;
			}
			const why = id.startsWith(`${prefix}.`)
				? ""
				: ": this gateway has no such task. If it has restarted, or the task is at another gateway of the cluster, the call may have been carried out";
			throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Task not found${why}`);
		},
		/** Cancels every task. */
		close(): void {
			for (const { task } of tasks.values()) {
				drop(task);
			}
		},
	};
}

/** Key of the per-client task limit: a token, or all clients without one. */
function ownerOf({ access }: TaskClient): string {
	return access.holder ?? access.principal;
}

/** Whether a client may use what another, or it itself before, has begun: it may not reach less now. */
function mayUse(client: TaskClient, of: TaskClient): boolean {
	const { devices, readOnly = false } = client.access;
	const reachesAll =
		devices === undefined || (of.access.devices !== undefined && [...of.access.devices].every((id) => devices.has(id)));
	return (
		ownerOf(client) === ownerOf(of) &&
		client.server === of.server &&
		reachesAll &&
		(!readOnly || of.access.readOnly === true)
	);
}
