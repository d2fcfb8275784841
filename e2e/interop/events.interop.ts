import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { describe, it, type TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import { Webhook } from "standardwebhooks";
import { WireDevice } from "xs-mcp-gateway/testing/gateway";
import { tokensIn } from "xs-mcp-gateway/testing/program";
import * as z from "zod";
import { freePort, listen, temporaryFolder, until } from "../../host-test/support/testing.js";
import { connectOverHttp } from "../clients.js";
import { metricsOf, type RunningGateway, startGateway } from "../gateway-process.js";
import { startDevice } from "./device.js";
import { findPeer } from "./peers.js";

const sdk = findPeer("AI_SDK");
const NAME = "button.pressed";

interface AiSdk {
	createMCPClient(options: object): Promise<AiClient>;
	experimental_createMCPEventWebhook(options: {
		readonly store: object;
		readonly onEvent: (told: { readonly event: Occurrence }) => Promise<void>;
	}): (request: Request) => Promise<Response>;
}

interface AiClient {
	readonly experimental_events: {
		list(): Promise<{ events: { name: string; delivery: string[] }[] }>;
		subscribe(options: object): Promise<{ id: string }>;
		unsubscribe(options: { readonly id: string }): Promise<void>;
	};
	close(): Promise<void>;
}

interface Occurrence {
	readonly eventId: string;
	readonly name: string;
	readonly cursor?: string;
	readonly data: Record<string, unknown>;
}

interface Subscription {
	readonly key: string;
	readonly id?: string;
	readonly delivery: { readonly secret: string };
}

const folderOf = (): string => join(sdk.folder ?? "", "node_modules/@ai-sdk/mcp");

function titleOf(): string {
	return sdk.folder === undefined
		? sdk.title
		: `@ai-sdk/mcp ${JSON.parse(readFileSync(join(folderOf(), "package.json"), "utf8")).version}`;
}

function makeStore(kept: Map<string, Subscription>) {
	return {
		get: async (key: string) => kept.get(key),
		getById: async (id: string) => [...kept.values()].find((each) => each.id === id),
		set: async (subscription: Subscription) => void kept.set(subscription.key, subscription),
		update: async (key: string, patch: object) => void kept.set(key, { ...kept.get(key), ...patch } as Subscription),
		delete: async (key: string) => void kept.delete(key),
	};
}

/** An app with the AI SDK's webhook. Every request is also checked by the library of Standard Webhooks. */
class App {
	readonly kept = new Map<string, Subscription>();
	readonly store = makeStore(this.kept);
	readonly events: Occurrence[] = [];
	verified = 0;
	/** Settles when the handler may return: it has the event, but the gateway does not know. */
	handled: Promise<unknown> = Promise.resolve();
	url = "";

	static async listen(t: TestContext, { experimental_createMCPEventWebhook: createWebhook }: AiSdk): Promise<App> {
		const app = new App();
		const handle = createWebhook({
			store: app.store,
			onEvent: async ({ event }) => {
				app.events.push(event);
				await app.handled;
			},
		});
		const server = createServer(async (request, response) => {
			const text = await readText(request);
			const headers = request.headers as Record<string, string>;
			const [{ delivery } = { delivery: { secret: "" } }] = app.kept.values();
			new Webhook(delivery.secret).verify(text, headers);
			app.verified += 1;
			const answer = await handle(
				new Request(new URL(`${request.url}`, app.url), { method: "POST", headers, body: text }),
			);
			response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
		});
		app.url = `http://127.0.0.1:${await listen(t, server)}/hook`;
		return app;
	}

	get ids(): string[] {
		return this.events.map(({ eventId }) => eventId);
	}
}

async function follow(t: TestContext, { base, token }: RunningGateway, told: Occurrence[]): Promise<void> {
	const client = await connectOverHttp(`${base}/mcp`, "2026-07-28", token);
	t.after(() => client.close());
	let active = false;
	client.fallbackNotificationHandler = async ({ method, params }) => {
		active ||= method === "notifications/events/active";
		if (method === "notifications/events/event") {
			told.push(params as unknown as Occurrence);
		}
	};
	const params = { name: NAME, cursor: told.at(-1)?.cursor ?? null };
	void client.request({ method: "events/stream", params }, z.looseObject({}), { timeout: 600_000 }).catch(() => {});
	await until(() => active, "the stream is active");
}

async function startSide(t: TestContext, app: App) {
	const folder = temporaryFolder();
	const token = await tokensIn(folder).add({ name: "agent", kind: "client" });
	const flags = {
		"--http-port": `${await freePort()}`,
		"--websocket-port": `${await freePort()}`,
		"--webhook-hosts": new URL(app.url).host,
	};
	const start = async (): Promise<RunningGateway> => {
		const gateway = { ...(await startGateway(folder, "--no-announce", ...Object.entries(flags).flat())), token };
		t.after(() => gateway.program.stop());
		return gateway;
	};
	const gateway = await start();
	const { device } = await startDevice(t, { backend: gateway.deviceUrl });
	const connected = (): Promise<void> =>
		until(
			async () => /^xs_mcp_gateway_devices_connected 1$/m.test(await metricsOf(gateway.base, token)),
			"the device is connected",
		);
	await connected();
	const restart = async (): Promise<RunningGateway> => {
		const next = await start();
		await connected();
		return next;
	};
	return { device, gateway, restart };
}

async function startApp(t: TestContext) {
	const ai = (await import(pathToFileURL(join(folderOf(), "dist/index.js")).href)) as AiSdk;
	const app = await App.listen(t, ai);
	const side = await startSide(t, app);
	const { base, token } = side.gateway;
	const client = await ai.createMCPClient({
		transport: { type: "http", url: `${base}/mcp`, headers: { Authorization: `Bearer ${token}` } },
		experimental_events: { store: app.store },
	});
	t.after(() => client.close());
	return { ...side, app, events: client.experimental_events };
}

describe(titleOf(), { skip: sdk.skip }, () => {
	it("is told when the soil is dry: once, when the moisture falls below a limit", async (t) => {
		const { app, gateway, events } = await startApp(t);
		const plant = await WireDevice.connectTo(t, gateway.deviceUrl);
		await until(
			async () => /^xs_mcp_gateway_devices_connected 2$/m.test(await metricsOf(gateway.base, gateway.token)),
			"the plant is connected",
		);
		const delivery = { mode: "webhook", url: app.url, allowInsecureLocalhost: true };
		await events.subscribe({ name: "sensor.changed", arguments: { kind: "moisture", below: 30 }, delivery });
		for (const value of [45, 33, 28, 27, 40, 25]) {
			plant.notify("notifications/sensor_changed", { sensor: "soil", kind: "moisture", value, unit: "%" });
		}
		await until(() => app.events.length === 2, "told");
		assert.deepEqual(
			app.events.map(({ data }) => [data.value, data.previous]),
			[
				[28, 33],
				[25, 40],
			],
		);
	});

	it("presses of a device reach its webhook and a stream, across SIGTERM and `kill -9`; a repeat has the same id", async (t) => {
		const { app, device, gateway, restart, events } = await startApp(t);
		const type = (await events.list()).events.find(({ name }) => name === NAME);
		assert.ok(type?.delivery.includes("webhook"));
		const delivery = { mode: "webhook", url: app.url, allowInsecureLocalhost: true };
		const { id } = await events.subscribe({ name: NAME, delivery });
		const streamed: Occurrence[] = [];
		const press = async (): Promise<void> => {
			const count = streamed.length;
			await device.press();
			await until(() => streamed.length > count, "the press is streamed");
		};
		const posted = (count: number): Promise<void> =>
			until(() => new Set(app.ids).size === count, `${count} presses have reached the handler`);

		await follow(t, gateway, streamed);
		await press();
		await posted(1);
		await gateway.program.stop();
		const second = await restart();
		await follow(t, second, streamed);
		await press();
		await posted(2);

		// The handler has the third, the gateway does not know; the fourth is accepted, and waits for it.
		const released = new EventEmitter();
		app.handled = once(released, "now");
		await press();
		await posted(3);
		await press();
		await second.program.stop("SIGKILL");
		released.emit("now");
		const third = await restart();
		await follow(t, third, streamed);
		await posted(4);
		await press();
		await posted(5);

		const accepted = streamed.map(({ eventId }) => eventId);
		assert.deepEqual([...new Set(app.ids)], accepted, "each has reached the handler, in order");
		assert.ok(app.ids.filter((each) => each === accepted[2]).length >= 2, "the third was repeated by its id");
		assert.equal(app.verified, app.ids.length + 1, "the challenge, and each event");
		await events.unsubscribe({ id });
		t.diagnostic(`${streamed.length} presses, ${app.ids.length} deliveries`);
	});
});
