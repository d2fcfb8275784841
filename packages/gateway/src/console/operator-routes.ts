import { EventEmitter } from "node:events";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type CallRecord, isUserOnly, type Server } from "xs-mcp-manager/core";
import * as z from "zod";
import { cluster } from "../cluster/plugin.js";
import { reaches } from "../config/access.js";
import type { FirmwareUpdate } from "../devices/firmware/firmware-updates.js";
import type { RunningGateway } from "../gateway.js";
import { GatewayError } from "../gateway-error.js";
import { allow, deviceOf, eventStreams, needsOperator, readJsonAs } from "../http/route.js";

/** A device, as `GET /devices` describes it. */
export type DeviceSummary = ReturnType<typeof summaryOf>;

/** Bytes that may wait for a client that watches events; beyond, its stream ends. */
const MAX_BACKLOG = 1024 * 1024;

/** Serves metrics for Prometheus, events of devices, and for tokens that can access all devices the state of the cluster. */
export function addOperatorRoutes(gateway: RunningGateway, events: GatewayEvents): void {
	const { routes: app, metrics } = gateway;
	const { registry } = metrics;
	app.all("/metrics", allow("GET"), async (c) =>
		c.body(await registry.metrics(), 200, { "Content-Type": registry.contentType }),
	);
	const startStream = eventStreams("event streams");
	app.all("/events", allow("GET"), (c) => {
		const { access, owner } = c.var.admission;
		// Node's response says how much waits for a client that does not read.
		const { outgoing: response } = c.env;
		startStream(owner, response);
		response.write(": connected\n\n");
		const write = (event: GatewayEvent): void => {
			if (response.writableLength > MAX_BACKLOG) {
				response.destroy();
			} else if (reaches(access, event.device)) {
				response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
			}
		};
		events.on("event", write);
		response.once("close", () => events.off("event", write));
		return RESPONSE_ALREADY_SENT;
	});
	app.all("/cluster", allow("GET"), (c) => {
		if (c.var.admission.access.devices !== undefined) {
			throw new GatewayError("forbidden", "the cluster requires a token for all devices");
		}
		const { status } = gateway.use(cluster) ?? {};
		if (status === undefined) {
			throw new GatewayError("not-found", "this gateway is alone (setting cluster)");
		}
		return c.json(status);
	});
}

/** Serves `/healthz` to everybody: 200 in any case, since a restart would not help. Only the log has the details. */
export function addHealthRoute(gateway: RunningGateway): void {
	const { saves } = gateway;
	gateway.publicRoutes.all("/healthz", allow("GET", "HEAD"), (c) => {
		const isLost = gateway.use(cluster)?.status.connected === false;
		const problem = isLost ? "the cluster's store is unreachable" : saves.problem && "the state cannot be saved";
		return c.json(problem === undefined ? { status: "ok" } : { status: "degraded", problem });
	});
}

/** Bounds the text that is read and quoted in errors; names and tags have narrower limits. */
const TEXT = z.string().max(256);

const DEVICE_CHANGE = z.strictObject({
	alias: TEXT.optional(),
	title: TEXT.optional(),
	tags: z.array(TEXT).max(64).optional(),
});

/**
 * Serves the devices that a token can access.
 *
 * - `GET /devices` lists them. `DELETE /devices?offlineSeconds=N` forgets those that have been offline for at least that long.
 * - `PATCH /devices/NAME` with `{"alias": …}`, `{"title": …}` or `{"tags": […]}` changes one, `DELETE /devices/NAME` forgets it.
 * - `DELETE /devices/NAME/session` disconnects it. It may connect again at once.
 */
export function addDeviceRoutes({ routes: app, servers, settings }: RunningGateway): void {
	app.all("/devices", allow("GET", "DELETE"));
	app.get("/devices", (c) => {
		const { access } = c.var.admission;
		return c.json({ devices: servers.all.filter(({ id }) => reaches(access, id)).map(summaryOf) });
	});
	app.delete("/devices", async (c) => {
		const text = c.req.query("offlineSeconds") ?? "";
		if (!/^[0-9]{1,9}$/.test(text)) {
			throw new GatewayError("malformed", "offlineSeconds: expected a number of seconds");
		}
		const latest = Date.now() - Number(text) * 1000;
		const { access } = c.var.admission;
		const chosen = servers.all.filter(
			({ id, connection, lastSeen }) => connection === undefined && lastSeen <= latest && reaches(access, id),
		);
		await Promise.all(chosen.map(({ id }) => servers.forget(id)));
		return c.json({ forgotten: chosen.map(({ alias }) => alias) });
	});
	app.all("/devices/:device", allow("DELETE", "PATCH"));
	app.delete("/devices/:device", async (c) => {
		const server = deviceOf(c, servers);
		if (server.connection !== undefined) {
			throw new GatewayError("conflict", `${server.alias} is connected: disconnect it first`);
		}
		await servers.forget(server.id);
		return c.body(null, 204);
	});
	app.patch("/devices/:device", needsOperator, async (c) => {
		const server = deviceOf(c, servers);
		const change = await readJsonAs(DEVICE_CHANGE, "body", c.env.incoming, settings.maxBodyBytes);
		if (Object.keys(change).length === 0) {
			throw new GatewayError("malformed", "expected alias, title or tags");
		}
		try {
			if ((await servers.edit(server.id, change)) === undefined) {
				throw new GatewayError("not-found", `unknown device ${server.alias}`);
			}
		} catch (error) {
			throw error instanceof RangeError ? new GatewayError("malformed", error.message) : error;
		}
		const { alias, title = "", tags } = server;
		c.set("change", {
			...(change.alias !== undefined && { alias }),
			...(change.title !== undefined && { title }),
			...(change.tags && { tags }),
		});
		return c.json(summaryOf(server));
	});
	app.all("/devices/:device/session", allow("DELETE"), (c) => {
		const { connection } = deviceOf(c, servers);
		connection?.close("disconnected by the operator");
		return c.body(null, 204);
	});
}

function summaryOf({ id, alias, title, tags, board, online, connection, lastSeen, tools }: Server) {
	return {
		id,
		alias,
		/** The operator's name for it; absent if it has none. */
		title,
		tags,
		board,
		connected: online,
		/** "websocket" or "mqtt"; absent while it is offline. */
		transport: online ? connection?.identity.transport : undefined,
		/** Start of its connection; while it is offline, the time when it was last seen. */
		lastSeen: new Date(lastSeen).toISOString(),
		/** Their number, user-only ones included. */
		tools: tools.length,
		/** They are hidden from most clients. */
		userOnlyTools: tools.filter(isUserOnly).map(({ name }) => name),
	};
}

type Details =
	| { readonly type: "connected"; readonly transport: string }
	| { readonly type: "disconnected"; readonly reason: string }
	| { readonly type: "notification"; readonly method: string; readonly params: Readonly<Record<string, unknown>> }
	| { readonly type: "firmware"; readonly step: FirmwareUpdate["step"]; readonly version: string | undefined }
	| ({ readonly type: "call" } & Omit<CallRecord, "serverId">);

/** An event for operators. Arguments and results of calls are not included. */
export type GatewayEvent = Details & {
	/** ISO 8601. */
	readonly time: string;
	readonly device: string;
	/** Absent before the gateway has discovered the device. */
	readonly alias: string | undefined;
};

/** The gateway's events, for `/events` and the log. */
type GatewayEvents = EventEmitter<{ event: [event: GatewayEvent] }>;

/** Derives the gateway's events from those of its servers and their updates. */
export function gatewayEvents({ servers, updates }: RunningGateway): GatewayEvents {
	const events: GatewayEvents = new EventEmitter();
	// A listener for each operator who watches.
	events.setMaxListeners(0);
	const emit = (device: string, details: Details): void => {
		if (events.listenerCount("event") > 0) {
			const { alias } = servers.find(device) ?? {};
			events.emit("event", { time: new Date().toISOString(), device, alias, ...details });
		}
	};
	servers.on("connected", ({ id }, { identity: { transport } }) => emit(id, { type: "connected", transport }));
	servers.on("disconnected", ({ id }, _session, reason) => emit(id, { type: "disconnected", reason }));
	servers.on("notification", ({ id }, method, params) => emit(id, { type: "notification", method, params }));
	servers.on("call", ({ serverId, ...call }) => emit(serverId, { type: "call", ...call }));
	updates.on("update", ({ device, step, version }) => emit(device, { type: "firmware", step, version }));
	return events;
}
