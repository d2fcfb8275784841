import * as z from "zod";
import { type EventFeed, MAX_BATCH } from "../events/event-feed.js";
import type { LoggedEvent } from "../events/event-log.js";
import type { EventService } from "../events/event-service.js";
import { forbidden, invalid, unsupported, type Viewer } from "../events/event-types.js";
import { events } from "../events/plugin.js";
import type { Webhooks } from "../events/webhooks.js";
import type { Plugin } from "../plugin.js";
import { type ClientRequest, type Method, method } from "./client-request.js";

/** The extension of SEP-3415. */
export const EVENTS_EXTENSION = "io.modelcontextprotocol/events";

/** The member of `_meta` with the id of the request that a notification belongs to. */
const SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId";

/** Milliseconds after which a client may poll again, and between signs of life on a stream. */
const NEXT_POLL = 5_000;
const HEARTBEAT = 20_000;

const start = {
	name: z.string().min(1).max(128),
	arguments: z.record(z.string(), z.unknown()).optional(),
	cursor: z.string().max(128).nullish(),
	maxAgeMs: z.int().min(0).optional(),
};
const webhook = { mode: z.string().max(32).optional(), url: z.string().max(2_048) };

const LIST = z.looseObject({ cursor: z.string().optional() });
const POLL = z.looseObject({ ...start, maxEvents: z.int().min(1).optional() });
const STREAM = z.looseObject(start);
const SUBSCRIBE = z.looseObject({
	...start,
	delivery: z.looseObject({ ...webhook, secret: z.string().max(256) }),
	ttlMs: z.int().min(1).nullish(),
});
const UNSUBSCRIBE = z.looseObject({
	name: start.name,
	arguments: start.arguments,
	delivery: z.looseObject(webhook),
});

/** The methods of SEP-3415, for the events of the devices that a client may reach. */
export const EVENT_METHODS: Readonly<Record<string, Method>> = {
	"events/list": method(LIST, ({ cursor }, request) => {
		if (cursor !== undefined && cursor !== "") {
			throw invalid("cursor: the list has one page");
		}
		return { events: serviceOf(request).list(request.client.catalog) };
	}),
	"events/poll": method(POLL, (params, request) => {
		const feed = serviceOf(request).feed(request.client.catalog, params);
		try {
			const found = feed.next(Math.min(params.maxEvents ?? MAX_BATCH, MAX_BATCH)).map(occurrence);
			const truncated = feed.takeTruncated();
			return { events: found, cursor: feed.cursor, truncated, hasMore: feed.hasMore, nextPollMs: NEXT_POLL };
		} finally {
			feed.close();
		}
	}),
	"events/stream": method(STREAM, async (params, request) => {
		const { catalog } = request.client;
		const feed = serviceOf(request).feed(catalog, params);
		let release = (): void => {};
		try {
			release = serviceOf(request).openStream(catalog);
			await stream(feed, request);
		} finally {
			release();
			feed.close();
		}
		return {};
	}),
	"events/subscribe": method(SUBSCRIBE, async ({ arguments: args = {}, delivery, ...params }, request) => {
		const { mode = "webhook", url, secret } = delivery;
		if (mode !== "webhook") {
			throw unsupported(mode);
		}
		const asked = { ...params, ...withToken(request.client.catalog), arguments: args, url, secret };
		return await webhooksOf(request).subscribe(asked);
	}),
	"events/unsubscribe": method(UNSUBSCRIBE, async ({ name, arguments: args = {}, delivery }, request) => {
		const subscription = { ...withToken(request.client.catalog), name, arguments: args, url: delivery.url };
		await webhooksOf(request).unsubscribe(subscription);
		return {};
	}),
};

/** The methods are only served where there are events. */
function serviceOf({ client }: ClientRequest): EventService {
	return client.gateway.find(events) as EventService;
}

/** Finds them by their plugin's name: an import of the plugin would be a cycle. */
function webhooksOf({ client }: ClientRequest): Webhooks {
	return client.gateway.find({ name: "webhooks" } as Plugin<Webhooks>) as Webhooks;
}

/** @throws ProtocolError without a token: any client could end or redirect the subscription of another */
function withToken(viewer: Viewer): Viewer & { readonly holder: string } {
	const { access, server } = viewer;
	const { holder } = access;
	if (holder === undefined) {
		throw forbidden(
			"webhooks need a token: use events/poll or events/stream, or create one with xs-mcp-gateway token add",
		);
	}
	return { access, server, holder };
}

/** Sends events until the client has enough. */
async function stream(feed: EventFeed, request: ClientRequest): Promise<void> {
	const { id, signal } = request;
	const notify = (kind: string, params: object): void =>
		request.notify(`notifications/events/${kind}`, { ...params, _meta: { [SUBSCRIPTION_ID]: id } });
	const tellStart = (truncated: boolean): void => notify("active", { cursor: feed.cursor, truncated });
	tellStart(feed.takeTruncated());
	const heartbeat = setInterval(() => notify("heartbeat", { cursor: feed.cursor }), HEARTBEAT);
	try {
		while (!signal.aborted) {
			if (feed.takeTruncated()) {
				tellStart(true);
			}
			for (const event of feed.next(1)) {
				notify("event", { ...occurrence(event), cursor: feed.cursor });
			}
			if (!feed.hasMore) {
				await feed.changed(signal);
			}
		}
	} finally {
		clearInterval(heartbeat);
	}
}

/** An event as clients get it. */
function occurrence({ eventId, name, timestamp, data }: LoggedEvent) {
	return { eventId, name, timestamp, data };
}
