import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { createTaskSessionFromClient, resultFromTaskOutcome } from "@modelcontextprotocol/ext-tasks/client";
import { openManager } from "xs-mcp-manager/testing/manager";
import { testWith, until } from "../../../host-test/support/testing.js";
import { makeTasks, type Task, type Tasks } from "../src/mcp/tasks.js";
import { startAskingUpstream } from "../testing/asking-upstream.js";
import { type Answer, connectClient, LOCAL, startGateway, type TestGateway, WireDevice } from "../testing/gateway.js";
import { fetchStateless, postStateless } from "../testing/post-stateless.js";
import { callForTask, connectForTasks, KNOWS_TASKS, TASKS } from "../testing/tasks.js";

const IMPATIENT = { taskPatience: 0 };

const TOOL = { inputSchema: { type: "object" } };
const marked = (taskSupport: string) => ({ ...TOOL, name: `self.${taskSupport}`, execution: { taskSupport } });
const done = (text: string) => ({ content: [{ type: "text", text }], isError: false });
const completed = (text: string) => ({ resultType: "complete", ...done(text) });
const lacksTasks = { code: -32021, data: { requiredCapabilities: { extensions: { [TASKS]: {} } } } };

async function connectSlow(t: TestContext, options: object = IMPATIENT) {
	const side = await startGateway(t, options);
	const tools = [{ ...TOOL, name: "self.work" }, marked("optional"), marked("required")];
	const device = await WireDevice.connect(t, side, { tools, onCall: () => undefined });
	return { side, device, user: await connectForTasks(t, side.clientUrl()) };
}

const itWithSlowTool = testWith(connectSlow);

async function begin(side: TestGateway, device: WireDevice, name = "self_work") {
	const { length } = device.calls;
	const { result } = await callForTask(side, `lamp_000001__${name}`);
	await until(() => device.calls.length > length, "the device is called");
	return { created: result, id: result.taskId as string, call: device.calls.at(-1)?.id ?? 0 };
}

const ask = (message: string) => ({
	method: "elicitation/create",
	params: { mode: "form", message, requestedSchema: { type: "object", properties: {} } },
});

/** Asks two things at once, then a third, and answers with what it was told. */
const interview: Answer = ({ params: { inputResponses: given, requestState = "" } }) => {
	const answers: [string, { content: { it: string } }][] = Object.entries(given ?? {});
	const told = `${requestState} ${answers.map(([key, { content }]) => `${key}=${content.it}`).join(" ")}`.trim();
	if (given === undefined) {
		return { resultType: "input_required", inputRequests: { a: ask("A?"), b: ask("B?") }, requestState: "first" };
	}
	return "c" in given
		? { resultType: "complete", content: [{ type: "text", text: told }] }
		: { resultType: "input_required", inputRequests: { c: ask("C?") }, requestState: told };
};

describe("a call as a task", () => {
	it("is answered with a task, whose result any connection of the client gets later", async (t) => {
		const { side, device, user } = await connectSlow(t);
		const { created, id, call } = await begin(side, device);
		const { resultType, taskId, status, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs, _meta, ...rest } = created;
		assert.deepEqual([resultType, taskId, status, ttlMs, rest], ["task", id, "working", 3_600_000, {}]);
		assert.deepEqual([new Date(createdAt).toISOString(), lastUpdatedAt], [createdAt, createdAt]);
		assert.ok(Number.isInteger(pollIntervalMs));
		assert.equal((await user.get(id)).status, "working");
		await user.client.close();
		device.answer(call, done("warm"));
		const later = await connectForTasks(t, side.clientUrl());
		const { result, error } = await later.in(id, "completed", "failed");
		assert.deepEqual([result, error], [completed("warm"), undefined]);
		assert.deepEqual((await later.get(id)).result, completed("warm"), "it is kept");
	});

	itWithSlowTool("is followed to its result by the official client for tasks", async ({ side, device, user }, t) => {
		const session = createTaskSessionFromClient(user.client, {
			endpointId: "gateway",
			// The client for tasks makes requests of its own, because the official client rejects the answer to the call.
			rawDispatch: async (request) => {
				const { method, params } = request as { method: string; params: object };
				const { message } = await postStateless(side.clientUrl(), method, params, { capabilities: KNOWS_TASKS });
				return message.error ? { kind: "error", error: message.error } : { kind: "result", result: message.result };
			},
			v2RequestFraming: {
				protocolVersion: "2026-07-28",
				clientInfo: { name: "by-hand", version: "1" },
				clientCapabilities: KNOWS_TASKS,
			},
		});
		t.after(() => session.close());
		const execution = await session.callTool("lamp_000001__self_work", {});
		await until(() => device.calls.length === 1, "the device is called");
		device.answer(device.calls[0]?.id ?? 0, done("warm"));
		const { outcome } = await execution.settle();
		const result = resultFromTaskOutcome(outcome) as { content: readonly { text: string }[] };
		assert.equal(result.content[0]?.text, "warm");
	});

	it("is not created if the answer comes soon enough, or the client does not support tasks", async (t) => {
		const { side, device } = await connectSlow(t, { taskPatience: 300_000 });
		const calling = callForTask(side, "lamp_000001__self_work");
		await until(() => device.calls.length === 1, "the device is called");
		device.answer(device.calls[0]?.id ?? 0, done("warm"));
		assert.equal((await calling).result.content[0].text, "warm");
		const params = { name: "lamp_000001__self_optional", arguments: {} };
		const plain = postStateless(side.clientUrl(), "tools/call", params);
		await until(() => device.calls.length === 2, "the device is called again");
		device.answer(device.calls[1]?.id ?? 0, done("hot"));
		assert.equal((await plain).message.result.content[0].text, "hot");
	});

	it("is one at once if the tool is listed as one that takes long", async (t) => {
		const { side, device } = await connectSlow(t, { taskPatience: 300_000 });
		for (const name of ["self_optional", "self_required"]) {
			assert.equal((await begin(side, device, name)).created.status, "working");
		}
		const params = { name: "lamp_000001__self_required", arguments: {} };
		const { message } = await postStateless(side.clientUrl(), "tools/call", params);
		assert.deepEqual([message.error.code, message.error.data], [lacksTasks.code, lacksTasks.data]);
		assert.equal(device.calls.length, 2, "the device is not called");
	});

	itWithSlowTool("tells the tool's progress, and that the device was lost", async ({ side, device, user }) => {
		const { id } = await begin(side, device);
		const { progressToken } = device.calls[0] ?? {};
		device.notify("notifications/progress", { progressToken, progress: 20, total: 100 });
		await until(async () => (await user.get(id)).statusMessage === "20 of 100", "an amount");
		device.notify("notifications/progress", { progressToken, progress: 50, message: "heating" });
		await until(async () => (await user.get(id)).statusMessage === "heating", "words");
		await device.unplug();
		const { result } = await user.in(id, "completed", "failed");
		assert.match(
			JSON.stringify(result),
			/disconnected during the call, which may have been carried out.*"isError":true/s,
		);
	});

	it("is not known to clients that do not declare tasks, and not in earlier revisions", async (t) => {
		const { side, device } = await connectSlow(t);
		const { id } = await begin(side, device);
		const stranger = await connectForTasks(t, side.clientUrl(), {});
		for (const using of [stranger.get(id), stranger.update(id, {}), stranger.cancel(id)]) {
			await assert.rejects(using, lacksTasks);
		}
		const old = await connectClient(t, side.clientUrl(), "2025-11-25");
		assert.equal(old.getServerCapabilities()?.extensions?.[TASKS], undefined);
		const schema = { "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) } } as const;
		await assert.rejects(old.request({ method: "tasks/get", params: { taskId: id } }, schema), { code: -32601 });
	});

	itWithSlowTool("is cancelled, on the device, too", async ({ side, device, user }) => {
		const { id, call } = await begin(side, device);
		assert.deepEqual(Object.keys(await user.cancel(id)), ["_meta"]);
		await until(() => device.cancelled.includes(call), "the device is told");
		const { status, statusMessage } = await user.get(id);
		assert.deepEqual([status, statusMessage], ["cancelled", "cancelled: it may have been carried out in part"]);
		device.answer(call, done("warm"));
		await user.cancel(id);
		assert.equal((await user.get(id)).status, "cancelled");
	});
});

describe("a stream of tasks", () => {
	async function listen(side: TestGateway, notifications: object, capabilities: object = KNOWS_TASKS) {
		const options = { id: 7, capabilities };
		const response = await fetchStateless(side.clientUrl(), "subscriptions/listen", { notifications }, options);
		return {
			status: response.status,
			messages: async () => {
				const text = await response.text();
				return text.split("\n\n").flatMap((frame) => {
					const [, data = frame] = /^data: (.*)$/m.exec(frame) ?? [];
					return data.startsWith("{") ? [JSON.parse(data)] : [];
				});
			},
		};
	}

	itWithSlowTool("tells each task at once and with every change, until all have ended", async ({ side, device }) => {
		const one = await begin(side, device);
		const other = await begin(side, device);
		const { messages } = await listen(side, { taskIds: [one.id, other.id, "unknown", 5] });
		device.answer(one.call, done("one"));
		device.answer(other.call, done("other"));
		const [ack, first, second, ...later] = await messages();
		assert.deepEqual(ack.params.notifications, { taskIds: [one.id, other.id] });
		const META = "io.modelcontextprotocol/subscriptionId";
		const _meta = { [META]: 7 };
		const metas = [ack, first, second].map(({ params }) => params._meta);
		assert.deepEqual(metas, [_meta, _meta, _meta]);
		const statuses = [first, second].map(({ params }) => params.status);
		assert.deepEqual(statuses, ["working", "working"]);
		const ended = later.filter(({ params }) => params?.status === "completed");
		const results = ended.map(({ method, params }) => [method, params.taskId, params.result]);
		assert.deepEqual(results, [
			["notifications/tasks", one.id, completed("one")],
			["notifications/tasks", other.id, completed("other")],
		]);
		const { id, result } = later.at(-1);
		assert.deepEqual([id, result.resultType, result._meta[META]], [7, "complete", 7]);
	});

	itWithSlowTool("needs a client that declares tasks, and has no task of another", async ({ side, device }) => {
		const { id } = await begin(side, device);
		const rejected = await listen(side, { taskIds: [id] }, {});
		const [{ error }] = await rejected.messages();
		assert.deepEqual([rejected.status, error.code, error.data], [400, lacksTasks.code, lacksTasks.data]);
		side.access = { ...LOCAL, principal: "another" };
		const [ack, end] = await (await listen(side, { taskIds: [id] })).messages();
		assert.deepEqual([ack.params.notifications, end.result.resultType], [{}, "complete"]);
	});
});

describe("input for a task", () => {
	const questions = (task: object): Record<string, string> => {
		const { inputRequests = {} } = task as { inputRequests?: Record<string, { params: { message: string } }> };
		return Object.fromEntries(Object.entries(inputRequests).map(([key, { params }]) => [params.message, key]));
	};
	const accept = (it: string) => ({ action: "accept", content: { it } });

	async function connectInterviewer(t: TestContext) {
		const side = await startGateway(t, { taskPatience: 300_000 });
		const capabilities = { tools: {}, experimental: { stateless: { supportedVersions: ["2026-07-28"] } } };
		const answers = { "tools/list": () => ({ tools: [marked("optional")] }), "tools/call": interview };
		const device = await WireDevice.connect(t, side, { capabilities, answers });
		return { side, device, user: await connectForTasks(t, side.clientUrl()) };
	}

	it("may come in parts, in several rounds, each question with a key of its own", async (t) => {
		const { side, user } = await connectInterviewer(t);
		const { taskId } = (await callForTask(side, "lamp_000001__self_optional")).result;
		const { "A?": a = "", "B?": b = "" } = questions(await user.in(taskId, "input_required"));
		await user.update(taskId, { [a]: accept("1"), unknown: accept("9") });
		const partial = await user.get(taskId);
		assert.deepEqual([partial.status, questions(partial)], ["input_required", { "B?": b }]);
		await user.update(taskId, { [b]: accept("2"), [a]: accept("9") });
		await until(async () => "C?" in questions(await user.get(taskId)), "the third question");
		const { "C?": c = "" } = questions(await user.get(taskId));
		assert.equal(new Set([a, b, c]).size, 3);
		await user.update(taskId, { [c]: accept("3") });
		const { result } = await user.in(taskId, "completed", "failed");
		assert.deepEqual(result, { resultType: "complete", content: [{ type: "text", text: "first a=1 b=2 c=3" }] });
	});

	it("is not asked of a client that cannot give it", async (t) => {
		const { side, user } = await connectInterviewer(t);
		const params = { name: "lamp_000001__self_optional", arguments: {} };
		const capabilities = { extensions: KNOWS_TASKS.extensions };
		const { taskId } = (await postStateless(side.clientUrl(), "tools/call", params, { capabilities })).message.result;
		const { error } = await user.in(taskId, "completed", "failed");
		assert.deepEqual(error, {
			code: -32021,
			message: "the client has not declared the capability elicitation",
			data: { requiredCapabilities: { elicitation: { form: {} } } },
		});
	});

	it("is given before the task if it is asked for at once", async (t) => {
		const { side, user } = await connectInterviewer(t);
		const name = "tool_call";
		const args = { name: "lamp_000001__self_optional" };
		const { inputRequests, resultType, taskId } = (await callForTask(side, name, args)).result;
		assert.deepEqual([resultType, Object.keys(inputRequests), taskId], ["input_required", ["a", "b"], undefined]);
		await user.client.close();
	});

	it("reaches a server that asks in its session", async (t) => {
		const side = await startGateway(t, IMPATIENT);
		const upstream = await startAskingUpstream(t);
		const servers = [{ id: "asking", url: upstream.url }];
		await openManager(t, { registry: side.gateway.servers, servers });
		const user = await connectForTasks(t, side.clientUrl());
		const call = async () => (await callForTask(side, "asking__ask", ask("Your name?"))).result.taskId;
		const taskId = await call();
		const { "Your name?": key = "" } = questions(await user.in(taskId, "input_required"));
		await user.update(taskId, { [key]: accept("Ada") });
		const { result } = await user.in(taskId, "completed", "failed");
		assert.deepEqual(JSON.parse((result as { content: [{ text: string }] }).content[0].text), accept("Ada"));
		const withdrawn = await call();
		await user.in(withdrawn, "input_required");
		await user.cancel(withdrawn);
		await until(() => upstream.errors.length === 1, "the server is told that nobody answers");
	});
});

describe("whose a task is", () => {
	const notFound = { code: -32602, message: /Task not found/ };

	it("the token's that called, on the same path, as long as it reaches as much", async (t) => {
		const { side, device, user } = await connectSlow(t);
		const device1 = "aa:bb:cc:00:00:01";
		side.access = { ...LOCAL, principal: "laptop", holder: "hash", devices: new Set([device1]) };
		const { id } = await begin(side, device);
		assert.equal((await user.get(id)).status, "working");
		const others = [
			LOCAL,
			{ ...side.access, holder: "another" },
			{ ...side.access, devices: new Set(["aa:bb:cc:00:00:02"]) },
			{ ...side.access, readOnly: true },
		];
		for (const access of others) {
			side.access = access;
			await assert.rejects(user.get(id), notFound);
			await assert.rejects(user.update(id, {}), notFound);
			await assert.rejects(user.cancel(id), notFound);
		}
		side.access = { ...LOCAL, principal: "laptop", holder: "hash" };
		assert.equal((await user.get(id)).status, "working", "it reaches more");
		const elsewhere = await connectForTasks(t, side.clientUrl("lamp_000001"));
		await assert.rejects(elsewhere.get(id), notFound);
	});

	it("is not found after its TTL, or if it never existed", async (t) => {
		const { side, device, user } = await connectSlow(t, { ...IMPATIENT, taskTtl: 1 });
		const { taskId } = (await callForTask(side, "lamp_000001__self_work")).result;
		await until(
			async () => (await user.get(taskId).catch(({ message }) => message)) === "Task not found",
			"it is dropped",
		);
		await until(() => device.cancelled.length === 1, "the device is told");
		const text = /may have been carried out/;
		await assert.rejects(user.get("0123456789ab.of-another-gateway"), { code: -32602, message: text });
		await assert.rejects(user.get(""), { code: -32602, message: /: taskId: / });
	});
});

const clientOf = (holder: string) => ({ access: { ...LOCAL, holder }, server: undefined });

async function end(task: Task, bytes: number): Promise<void> {
	await task.follow(Promise.resolve({ content: [{ type: "text", text: "x".repeat(bytes) }] }));
}

const create = (tasks: Tasks): Task => tasks.create({}, () => new Promise(() => {}));

describe("the number of tasks", () => {
	it("is limited for a client: what has ended makes room", async () => {
		const tasks = makeTasks();
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
		const tasks = makeTasks();
		const kept = Array.from({ length: 1_001 }, (_, index) => tasks.keep(create(tasks), clientOf(`${index}`)));
		assert.deepEqual([kept.lastIndexOf(true), kept.at(-1)], [999, false]);
		tasks.close();
	});
});

describe("the result of a task", () => {
	it("is not kept if it is too large", async () => {
		const tasks = makeTasks();
		const task = create(tasks);
		tasks.keep(task, clientOf("a"));
		await end(task, 9_000_000);
		const { status, error, result } = tasks.find(task.id, clientOf("a")).details as Record<string, unknown>;
		assert.deepEqual([status, result], ["failed", undefined]);
		assert.match(JSON.stringify(error), /the result has 9000\d+ bytes: at most 8000000 are kept/);
		tasks.close();
	});

	it("makes room for later ones, the oldest first", async () => {
		const tasks = makeTasks();
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
