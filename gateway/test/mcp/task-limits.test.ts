import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Task } from "../../src/mcp/task.js";
import { Tasks } from "../../src/mcp/tasks.js";
import { LOCAL } from "../support/gateway.js";

const clientOf = (holder: string) => ({ holder, access: LOCAL, server: undefined });

/** A task that ends with a text of this many bytes. */
async function end(task: Task, bytes: number): Promise<void> {
	await task.follow(Promise.resolve({ content: [{ type: "text", text: "x".repeat(bytes) }] }));
}

const create = (tasks: Tasks): Task => tasks.create({}, () => new Promise(() => {}));

describe("the number of tasks", () => {
	it("is limited for a client: what has ended makes room", async () => {
		const tasks = new Tasks();
		const mine = Array.from({ length: 100 }, () => create(tasks));
		assert.deepEqual(new Set(mine.map((task) => tasks.keep(task, clientOf("a")))), new Set([true]));
		assert.equal(tasks.keep(create(tasks), clientOf("a")), false);
		assert.equal(tasks.keep(create(tasks), clientOf("b")), true);
		await end(mine[7] as Task, 1);
		assert.equal(tasks.keep(create(tasks), clientOf("a")), true);
		assert.throws(() => tasks.find(mine[7]?.id ?? "", clientOf("a")), { message: "Task not found" });
		tasks.close();
	});

	it("is limited for all clients together", () => {
		const tasks = new Tasks();
		const kept = Array.from({ length: 1_001 }, (_, index) => tasks.keep(create(tasks), clientOf(`${index}`)));
		assert.deepEqual([kept.lastIndexOf(true), kept.at(-1)], [999, false]);
		tasks.close();
	});
});

describe("the result of a task", () => {
	it("is not kept if it is too large", async () => {
		const tasks = new Tasks();
		const task = create(tasks);
		tasks.keep(task, clientOf("a"));
		await end(task, 9_000_000);
		const { status, error, result } = tasks.find(task.id, clientOf("a")).details as Record<string, unknown>;
		assert.deepEqual([status, result], ["failed", undefined]);
		assert.match(JSON.stringify(error), /the result has 9000\d+ bytes: at most 8000000 are kept/);
		tasks.close();
	});

	it("makes room for later ones, the oldest first", async () => {
		const tasks = new Tasks();
		const kept = Array.from({ length: 10 }, () => create(tasks));
		for (const task of kept) {
			tasks.keep(task, clientOf("a"));
			await end(task, 7_000_000);
		}
		const isThere = ({ id }: Task): boolean => {
			try {
				return tasks.find(id, clientOf("a")) !== undefined;
			} catch {
				return false;
			}
		};
		assert.deepEqual(kept.map(isThere), [false, ...Array.from({ length: 9 }, () => true)]);
		tasks.close();
	});
});
