import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { z } from "zod";
import { until } from "../../../host-test/support/until.js";
import { WireDevice } from "../support/gateway.js";
import { connect, makeServersFile, makeStateFolder, startProgram, startProgramWithDevice } from "../support/program.js";
import {
	ask,
	buttonOf,
	Endpoint,
	follow,
	type Occurrence,
	PRESSED,
	poll,
	press,
	rejection,
	SECRET,
} from "./support.js";

// Events of a configured server: here another gateway, which has a device.

const NAME = "far__button.pressed";

async function startChain(
	t: TestContext,
	settings: Parameters<typeof startProgram>[1] = {},
	folder = makeStateFolder(),
) {
	const { started: far, device } = await startProgramWithDevice(t);
	const near = await startNear(t, far.base, settings, folder);
	return { far, device, near };
}

/** A gateway with another one as a configured server. */
async function startNear(t: TestContext, farBase: string, settings: object, folder: string) {
	const serversFile = makeServersFile({ far: { url: `${farBase}/mcp` } }, folder);
	return await startProgram(t, { serversFile, ...settings }, folder);
}

type Near = Awaited<ReturnType<typeof startNear>>;

/** A client, once the types of the configured server are listed. */
async function connectNear(t: TestContext, near: Near, token?: string) {
	const client = await connect(t, near, token);
	const types = async () => (await ask<{ events: { name: string }[] }>(client, "events/list", {})).events;
	await until(async () => (await types()).some(({ name }) => name === NAME), "the server's types are listed");
	return { client, types };
}

describe("a configured server with events", () => {
	it("has its types listed by its name, with their schemas, and its arguments checked by itself", async (t) => {
		const { near } = await startChain(t);
		const { client, types } = await connectNear(t, near);
		const type = (await types()).find(({ name }) => name === NAME) as unknown as Record<string, Record<string, object>>;
		assert.deepEqual(type.delivery, ["push", "poll"]);
		assert.ok("button" in (type.inputSchema?.properties ?? {}));
		assert.ok("milliseconds" in (type.payloadSchema?.properties ?? {}));
		const wrong = await rejection(client, "events/poll", { name: NAME, arguments: { long: "very" } });
		assert.deepEqual([wrong.code, /arguments\.long/.test(wrong.message)], [-32602, true]);
		assert.equal((await rejection(client, "events/poll", { name: "far__tea.ready" })).code, -32011);
		assert.equal((await rejection(client, "events/poll", { name: "near__button.pressed" })).code, -32011);
	});

	it("has its events polled, by their arguments, with cursors that survive a restart", async (t) => {
		const folder = makeStateFolder();
		const { far, device, near } = await startChain(t, {}, folder);
		const { client } = await connectNear(t, near);
		const { cursor } = await ask(client, "events/poll", { name: NAME, arguments: { button: "bell" } });
		device.notify(PRESSED, press("boot"));
		device.notify(PRESSED, press("bell"));
		let found: Occurrence[] = [];
		await until(async () => {
			found = await poll(client, cursor, { button: "bell" }, NAME);
			return found.length > 0;
		}, "the press has come");
		const seen = found.map(({ name, data }) => [name, data]);
		assert.deepEqual(seen, [[NAME, { ...press("bell"), device: "lamp_000001" }]]);
		await near.program.close();
		device.notify(PRESSED, press("bell"));
		const next = await startNear(t, far.base, {}, folder);
		const { client: again } = await connectNear(t, next);
		await until(async () => (await poll(again, cursor, { button: "bell" }, NAME)).length === 2, "what came meanwhile");
		assert.deepEqual((await poll(again, cursor, { button: "bell" }, NAME))[0], found[0]);
	});

	it("has its events streamed, and goes on after it was restarted", async (t) => {
		const folder = makeStateFolder();
		const far = await startProgram(t, {}, folder);
		const near = await startNear(t, far.base, {}, makeStateFolder());
		const { client } = await connectNear(t, near);
		const told = follow(client);
		const stream = { method: "events/stream", params: { name: NAME } };
		void client.request(stream, z.looseObject({}), { timeout: 600_000 }).catch(() => {});
		await until(() => told.some(({ method }) => method === "active"), "active");
		const buttons = () => told.filter(({ method }) => method === "event").map(buttonOf);
		(await WireDevice.connect(t, far)).notify(PRESSED, press("before"));
		await until(() => buttons().length === 1, "an event has come");
		await far.program.close();
		const again = await startProgram(t, { httpPort: Number(new URL(far.base).port) }, folder);
		(await WireDevice.connect(t, again)).notify(PRESSED, press("after"));
		await until(() => buttons().length === 2, "another one after the restart");
		assert.deepEqual(buttons(), ["before", "after"]);
	});

	it("has its events posted, and only to clients that may reach it", async (t) => {
		const endpoint = await Endpoint.listen(t);
		const folder = makeStateFolder();
		const { far, device, near } = await startChain(t, { webhookHosts: [endpoint.host] }, folder);
		const { client } = await connectNear(t, near, await near.tokens.add({ name: "agent", kind: "client" }));
		const delivery = { mode: "webhook", url: endpoint.url, secret: SECRET };
		await ask(client, "events/subscribe", { name: NAME, delivery });
		device.notify(PRESSED, press("boot"));
		await until(() => endpoint.messages.length === 1, "posted");
		await near.program.close();
		const next = await startNear(t, far.base, { webhookHosts: [endpoint.host] }, folder);
		device.notify(PRESSED, press("again"));
		await until(() => endpoint.messages.length === 2, "posted after a restart, too");
		assert.deepEqual(endpoint.buttons, ["boot", "again"]);
		const limited = await next.tokens.add({ name: "limited", kind: "client", devices: ["aa:bb:cc:00:00:09"] });
		const other = await connect(t, next, limited);
		const { events } = await ask<{ events: { name: string }[] }>(other, "events/list", {});
		assert.ok(!events.some(({ name }) => name.startsWith("far__")));
		assert.equal((await rejection(other, "events/poll", { name: NAME })).code, -32011);
	});
});
