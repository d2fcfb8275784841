import type { ServerResponse } from "node:http";
import type { Access } from "../clients/access.js";
import type { GatewayEvent, GatewayEvents } from "../events.js";
import type { Metrics } from "../metrics.js";
import type { KnownDevice } from "../servers/known-device.js";
import type { KnownDevices } from "../servers/registry.js";
import type { Page } from "./app.js";
import { RequestRefusal } from "./http-error.js";

export interface OperatorPagesOptions {
	readonly devices: KnownDevices;
	readonly events: GatewayEvents;
	readonly metrics: Metrics;
}

/** A device, as `GET /devices` tells of it. */
export interface DeviceSummary {
	readonly id: string;
	readonly alias: string;
	readonly board: { readonly name: string; readonly version: string };
	readonly connected: boolean;
	/** "websocket" or "mqtt"; absent while it is away. */
	readonly transport?: string;
	/** ISO 8601. While it is connected: when it came. */
	readonly lastSeen: string;
	/** How many it has, user-only ones included. */
	readonly tools: number;
}

/** Streams of events at the same time. */
const MAX_STREAMS = 100;

/** Bytes that a watcher may be behind, before it is let go. */
const MAX_BACKLOG = 1024 * 1024;

/** Milliseconds between signs of life, which keep proxies from closing a quiet stream. */
const KEEP_ALIVE = 15_000;

/** Pages for the people who run the gateway, by path. Each shows only devices that the token is good for. */
export function makeOperatorPages(options: OperatorPagesOptions): ReadonlyMap<string, Page> {
	const { devices, events, metrics } = options;
	return new Map<string, Page>([
		[
			"/healthz",
			{ methods: ["GET", "HEAD"], isPublic: true, serve: (_request, response) => sendJson(response, { status: "ok" }) },
		],
		[
			"/metrics",
			{
				methods: ["GET"],
				async serve(_request, response) {
					const text = await metrics.registry.metrics();
					response.writeHead(200, { "Content-Type": metrics.registry.contentType }).end(text);
				},
			},
		],
		[
			"/devices",
			{
				methods: ["GET"],
				serve(_request, response, access) {
					const reachable = devices.all.filter(({ id }) => reaches(access, id));
					sendJson(response, { devices: reachable.map(summaryOf) });
				},
			},
		],
		["/events", { methods: ["GET"], serve: (_request, response, access) => stream(events, response, access) }],
	]);
}

/** `DELETE /devices/NAME`: the gateway forgets a device that will not come back. */
export function makeForgetPage(devices: KnownDevices, name: string): Page {
	return {
		methods: ["DELETE"],
		serve(_request, response, access) {
			const known = devices.find(name);
			if (known === undefined || !reaches(access, known.id)) {
				throw new RequestRefusal(404, "not-found", `there is no device ${name}`);
			}
			if (known.device !== undefined) {
				throw new RequestRefusal(409, "busy", `${known.alias} is connected: it would be known again at once`);
			}
			devices.forget(known.id);
			response.writeHead(204).end();
		},
	};
}

function stream(events: GatewayEvents, response: ServerResponse, access: Access): void {
	if (events.listenerCount("event") >= MAX_STREAMS) {
		throw new RequestRefusal(503, "busy", `${MAX_STREAMS} streams of events are open already`);
	}
	response.writeHead(200, { "Content-Type": "text/event-stream" });
	response.write(": connected\n\n");
	const write = (event: GatewayEvent): void => {
		if (response.writableLength > MAX_BACKLOG) {
			response.destroy();
		} else if (reaches(access, event.device)) {
			response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
		}
	};
	const timer = setInterval(() => response.write(":\n\n"), KEEP_ALIVE);
	events.on("event", write);
	response.once("close", () => {
		clearInterval(timer);
		events.off("event", write);
	});
}

function summaryOf({ id, alias, board, device, lastSeen, tools }: KnownDevice): DeviceSummary {
	return {
		id,
		alias,
		board,
		connected: device !== undefined,
		...(device && { transport: device.identity.transport }),
		lastSeen: new Date(lastSeen).toISOString(),
		tools: tools.length,
	};
}

function reaches({ devices }: Access, id: string): boolean {
	return devices === undefined || devices.has(id);
}

function sendJson(response: ServerResponse, value: unknown): void {
	response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(value));
}
