// Helpers for the tests of events (SEP-3415, the extension io.modelcontextprotocol/events).
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { TestContext } from "node:test";
import type { Client } from "@modelcontextprotocol/client";
import { Webhook } from "standardwebhooks";
import * as z from "zod";
import { listen, until } from "../../../host-test/support/testing.js";
import { WireDevice } from "./gateway.js";
import { makeStateFolder, startProgram } from "./program.js";

export const PRESSED = "notifications/button_pressed";
export const press = (button: string) => ({ button, long: false, milliseconds: 120 });
export const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

export type Occurrence = {
	eventId: string;
	name: string;
	timestamp: string;
	data: Record<string, unknown>;
	cursor?: string;
};
export interface Poll {
	events: Occurrence[];
	cursor: string;
	truncated: boolean;
	hasMore: boolean;
	nextPollMs: number;
}

export async function ask<Result = Poll>(
	client: Client,
	method: string,
	params: Record<string, unknown>,
): Promise<Result> {
	return (await client.request({ method, params }, z.looseObject({}))) as Result;
}

export async function rejection(client: Client, method: string, params: Record<string, unknown>) {
	const error = await ask(client, method, params).then(
		() => undefined,
		(reason: unknown) => reason as { code: number; message: string; data?: Record<string, unknown> },
	);
	assert.ok(error, `${method} succeeds`);
	return { code: error.code, message: error.message, data: error.data };
}

/** An endpoint for events, which checks signatures by the library of Standard Webhooks. */
export class Endpoint {
	readonly messages: { id: string; subscription: string; body: Occurrence & { type?: string; error?: unknown } }[] = [];
	/** The status of the next answers; 200 if empty. */
	readonly statuses: number[] = [];
	secret = SECRET;
	url = "";

	static async listen(t: TestContext): Promise<Endpoint> {
		const self = new Endpoint();
		const server = createServer(async (request, response) => {
			let text = "";
			for await (const chunk of request) {
				text += chunk;
			}
			const headers = request.headers as Record<string, string>;
			const body = new Webhook(self.secret).verify(text, headers) as (typeof self.messages)[number]["body"];
			if (body.type === "verification") {
				response.end(JSON.stringify({ challenge: (body as unknown as { challenge: string }).challenge }));
				return;
			}
			const status = self.statuses.shift() ?? 200;
			if (status === 200) {
				self.messages.push({
					id: headers["webhook-id"] ?? "",
					subscription: headers["x-mcp-subscription-id"] ?? "",
					body,
				});
			}
			response.writeHead(status).end();
		});
		self.url = `http://127.0.0.1:${await listen(t, server)}/hook`;
		return self;
	}

	get host(): string {
		return new URL(this.url).host;
	}

	get buttons(): unknown[] {
		return this.messages.map(({ body }) => body.data?.button);
	}
}

export async function start(
	t: TestContext,
	settings: Parameters<typeof startProgram>[1] = {},
	folder = makeStateFolder(),
) {
	const side = await startProgram(t, settings, folder);
	return { side, device: await WireDevice.connect(t, side) };
}

/** Presses a button, and settles when the log has it. */
export async function pressed(client: Client, device: WireDevice, button: string): Promise<void> {
	const { cursor } = await ask(client, "events/poll", { name: "button.pressed" });
	device.notify(PRESSED, press(button));
	await until(async () => (await poll(client, cursor)).length > 0, `${button} was pressed`);
}

export async function poll(
	client: Client,
	cursor: string,
	args: object = {},
	name = "button.pressed",
): Promise<Occurrence[]> {
	return (await ask(client, "events/poll", { name, cursor, arguments: args })).events;
}

export function follow(client: Client): { method: string; params: Record<string, unknown> }[] {
	const told: { method: string; params: Record<string, unknown> }[] = [];
	client.fallbackNotificationHandler = async ({ method, params }) => {
		told.push({ method: method.replace("notifications/events/", ""), params: params ?? {} });
	};
	return told;
}

export function buttonOf(told: { readonly params: Record<string, unknown> } | undefined): unknown {
	return (told?.params.data as Record<string, unknown> | undefined)?.button;
}
