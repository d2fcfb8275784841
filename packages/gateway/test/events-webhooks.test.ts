import assert from "node:assert/strict";
import { createServer } from "node:http";
import { describe, it, type TestContext } from "node:test";
import { listen, testWith, until } from "../../../host-test/support/testing.js";
import { ask, Endpoint, PRESSED, press, rejection, SECRET, start } from "../testing/events.js";
import { WireDevice } from "../testing/gateway.js";
import { connect, makeStateFolder, startProgram } from "../testing/program.js";

// SEP-3415: events that are posted to a URL.

/** A gateway with a device, a client with a token, and an endpoint that the gateway trusts. */
async function startWebhook(t: TestContext, folder = makeStateFolder()) {
	const endpoint = await Endpoint.listen(t);
	const { side, device } = await start(t, { webhookHosts: [endpoint.host] }, folder);
	const token = await side.tokens.add({ name: "agent", kind: "client" });
	const client = await connect(t, side, token);
	const params = {
		name: "button.pressed",
		arguments: {},
		cursor: null,
		delivery: { mode: "webhook", url: endpoint.url, secret: SECRET },
	};
	return { endpoint, side, device, token, client, params };
}

const itWebhook = testWith(startWebhook);

interface Subscribed {
	id: string;
	refreshBefore: string;
	cursor: string;
	truncated: boolean;
	deliveryStatus?: { lastError: string | null; lastDeliveryAt: string | null };
}

describe("a webhook", () => {
	it("gets signed events in their order, also those that it has refused at first", async (t) => {
		const { endpoint, device, client, params } = await startWebhook(t);
		const { id, refreshBefore, truncated } = await ask<Subscribed>(client, "events/subscribe", params);
		assert.ok(Date.parse(refreshBefore) > Date.now());
		assert.equal(truncated, false);
		endpoint.statuses.push(503);
		for (const button of ["a", "b", "c"]) {
			device.notify(PRESSED, press(button));
		}
		await until(() => endpoint.messages.length === 3, "every event has come");
		assert.deepEqual(endpoint.buttons, ["a", "b", "c"]);
		const [first] = endpoint.messages;
		assert.deepEqual([first?.id, first?.subscription], [first?.body.eventId, id]);
	});

	it("goes on after a restart of the gateway: with the same ids, and without its client", async (t) => {
		const folder = makeStateFolder();
		const { endpoint, side, device, client, params } = await startWebhook(t, folder);
		const { id } = await ask<Subscribed>(client, "events/subscribe", params);
		await side.gateway.close();
		const next = await startProgram(t, { webhookHosts: [endpoint.host] }, folder);
		const again = await WireDevice.connect(t, next);
		again.notify(PRESSED, press("after"));
		await until(() => endpoint.messages.length > 0, "it has come");
		assert.deepEqual([endpoint.buttons, endpoint.messages[0]?.subscription], [["after"], id]);
		assert.ok(device);
	});

	itWebhook("is renewed, with another secret, and ended", async ({ endpoint, device, client, params }) => {
		const { id } = await ask<Subscribed>(client, "events/subscribe", params);
		const secret = `whsec_${Buffer.alloc(24, 9).toString("base64")}`;
		const delivery = { ...params.delivery, secret };
		const renewed = await ask<Subscribed>(client, "events/subscribe", { ...params, delivery, ttlMs: null });
		assert.equal(renewed.id, id);
		assert.equal(renewed.deliveryStatus?.lastError, null);
		endpoint.secret = secret;
		device.notify(PRESSED, press("new"));
		await until(() => endpoint.messages.length === 1, "signed with the new secret");
		endpoint.secret = SECRET;
		device.notify(PRESSED, press("old"));
		await until(() => endpoint.messages.length === 2, "and with the old one");
		const { name, arguments: args } = params;
		await ask(client, "events/unsubscribe", { name, arguments: args, delivery: { url: endpoint.url } });
		// A client that has not got the answer may repeat it.
		const again = { name, arguments: args, delivery: { url: endpoint.url } };
		await ask(client, "events/unsubscribe", again);
	});

	itWebhook("is told, and ends, when its token is removed", async ({ endpoint, side, client, params }) => {
		await ask(client, "events/subscribe", params);
		await side.tokens.remove("agent");
		await until(() => endpoint.messages.length === 1, "told");
		const [{ body } = {}] = endpoint.messages;
		assert.deepEqual([body?.type, (body as { error: { code: number } }).error.code], ["terminated", -32024]);
	});

	it("needs a token", async (t) => {
		const { side } = await start(t);
		const client = await connect(t, side);
		const delivery = { mode: "webhook", url: "https://example.com/hook", secret: SECRET };
		const { code, message } = await rejection(client, "events/subscribe", { name: "timer.due", delivery });
		assert.deepEqual([code, /token/.test(message)], [-32024, true]);
	});

	it("is not accepted at a private address, without TLS, with a short secret, or if its endpoint does not answer the challenge", async (t) => {
		const { side, client, params } = await startWebhook(t);
		const refuse = async (change: Record<string, string>) => {
			const delivery = { ...params.delivery, ...change };
			const { code, message, data } = await rejection(client, "events/subscribe", { ...params, delivery });
			return [code, message, data?.reason ?? data?.feature];
		};
		assert.deepEqual(await refuse({ url: `https://127.0.0.1:${new URL(side.base).port}/` }), [
			-32027,
			"delivery.url: connection_refused",
			"connection_refused",
		]);
		for (const host of ["[::10.1.2.3]", "[::ffff:10.1.2.3]", "[64:ff9b::a01:203]", "[fd00::1]"]) {
			assert.equal((await refuse({ url: `https://${host}/` }))[2], "connection_refused", host);
		}
		assert.deepEqual(await refuse({ url: "http://example.com/" }), [
			-32602,
			"delivery.url: expected an https URL",
			undefined,
		]);
		assert.match(`${(await refuse({ secret: "whsec_AAAA" }))[1]}`, /delivery\.secret: expected whsec_/);
		assert.deepEqual((await refuse({ mode: "fax" }))[2], "deliveryMode");
		const port = await listen(
			t,
			createServer((_request, response) => response.end("hello")),
		);
		const { side: trusting } = await start(t, { webhookHosts: [`127.0.0.1:${port}`] });
		const user = await connect(t, trusting, await trusting.tokens.add({ name: "agent", kind: "client" }));
		const delivery = { ...params.delivery, url: `http://127.0.0.1:${port}/` };
		const failed = await rejection(user, "events/subscribe", { ...params, delivery });
		assert.deepEqual([failed.code, failed.data], [-32027, { reason: "challenge_failed" }]);
	});

	it("is not kept waiting by another token that names private addresses, or too many", async (t) => {
		const { side, client, params } = await startWebhook(t);
		const other = await connect(t, side, await side.tokens.add({ name: "other", kind: "client" }));
		const subscribe = (user: typeof client, url: string, pause: number) =>
			rejection(user, "events/subscribe", { ...params, arguments: { pause }, delivery: { ...params.delivery, url } });
		const codes = async (user: typeof client, url: string) =>
			new Set(
				(await Promise.all(Array.from({ length: 30 }, (_, index) => subscribe(user, url, index + 1)))).map(
					({ code }) => code,
				),
			);
		assert.deepEqual(await codes(other, "https://10.1.2.3/"), new Set([-32027]));
		// A slow machine sends too few in a second.
		while (!(await codes(other, "https://nowhere.invalid/")).has(-32025)) {}
		await ask(client, "events/subscribe", params);
	});

	itWebhook("has at most 50 subscriptions of one token", async ({ client, params }) => {
		for (let seconds = 1; seconds <= 50; seconds += 1) {
			await ask(client, "events/subscribe", { ...params, arguments: { pause: seconds } });
		}
		const { code, data } = await rejection(client, "events/subscribe", { ...params, arguments: { pause: 51 } });
		assert.deepEqual([code, data], [-32025, { limit: "subscriptions", max: 50 }]);
	});
});
