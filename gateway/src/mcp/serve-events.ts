import type { ServerContext } from "@modelcontextprotocol/server";
import { z } from "zod";
import { exhausted, forbidden, invalid, unsupported } from "../events/event-error.js";
import { type EventFeed, MAX_BATCH } from "../events/event-feed.js";
import type { LoggedEvent } from "../events/event-log.js";
import type { EventService, Viewer } from "../events/event-service.js";
import type { ServedClient } from "./served-client.js";

/** The extension of SEP-3415. */
export const EVENTS_EXTENSION = "io.modelcontextprotocol/events";

/** Milliseconds after which a client may poll again, and between signs of life on a stream. */
const NEXT_POLL = 5_000;
const HEARTBEAT = 20_000;

/** Streams that a client has open at the same time. */
const MAX_STREAMS = 20;

/** The member of `_meta` that says of which request a notification is. */
const SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId";

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

interface ServeEventsOptions {
	readonly events: EventService;
	readonly viewer: Viewer;
	/** The client's token. Without one nothing is posted. */
	readonly holder: string | undefined;
}

/** Serves the events of the devices that a client may reach: SEP-3415. */
export function serveEvents(
	{ server: sdk, onClosed }: ServedClient,
	{ events, viewer, holder }: ServeEventsOptions,
): void {
	let streams = 0;
	const closed = new AbortController();
	onClosed(() => closed.abort());
	sdk.setRequestHandler("events/list", { params: LIST }, ({ cursor }) => {
		if (cursor !== undefined && cursor !== "") {
			throw invalid("cursor: the list has one page");
		}
		return { events: events.list(viewer) };
	});
	sdk.setRequestHandler("events/poll", { params: POLL }, ({ name, maxEvents = MAX_BATCH, ...params }) => {
		const feed = events.feed(viewer, name, params.arguments, { ...params, cursor: params.cursor ?? null });
		const truncated = feed.takeTruncated();
		const found = feed.next(Math.min(maxEvents, MAX_BATCH));
		const { cursor, hasMore } = feed;
		return { events: found.map(occurrence), cursor, truncated, hasMore, nextPollMs: NEXT_POLL };
	});
	sdk.setRequestHandler("events/stream", { params: STREAM }, async ({ name, ...params }, context) => {
		const feed = events.feed(viewer, name, params.arguments, { ...params, cursor: params.cursor ?? null });
		if (streams >= MAX_STREAMS) {
			throw exhausted("streams", MAX_STREAMS);
		}
		streams += 1;
		try {
			await stream(feed, context, AbortSignal.any([context.mcpReq.signal, closed.signal]));
		} finally {
			streams -= 1;
		}
		return {};
	});
	sdk.setRequestHandler("events/subscribe", { params: SUBSCRIBE }, async ({ delivery, cursor = null, ...params }) => {
		const { mode = "webhook", url, secret } = delivery;
		if (mode !== "webhook") {
			throw unsupported(mode);
		}
		const { name, arguments: args, maxAgeMs, ttlMs } = params;
		const request = { name, arguments: args, cursor, maxAgeMs, ttlMs, url, secret };
		return { ...(await events.subscribe(withToken(viewer, holder), request)) };
	});
	sdk.setRequestHandler("events/unsubscribe", { params: UNSUBSCRIBE }, async ({ name, arguments: args, delivery }) => {
		await events.unsubscribe(withToken(viewer, holder), { name, arguments: args, url: delivery.url });
		return {};
	});
}

/** @throws ProtocolError: without a token, anybody could end or redirect somebody else's subscription */
function withToken(viewer: Viewer, holder: string | undefined): Viewer & { readonly holder: string } {
	if (holder === undefined) {
		throw forbidden(
			"webhooks need a token: use events/poll or events/stream, or create one with xs-mcp-gateway token add",
		);
	}
	return { ...viewer, holder };
}

/** Sends events until the client has enough. */
async function stream(feed: EventFeed, { mcpReq }: ServerContext, signal: AbortSignal): Promise<void> {
	const notify = (kind: string, params: object): Promise<void> =>
		mcpReq.notify({
			method: `notifications/events/${kind}`,
			params: { ...params, _meta: { [SUBSCRIPTION_ID]: mcpReq.id } },
		});
	const tellStart = (truncated: boolean) => notify("active", { cursor: feed.cursor, truncated });
	await tellStart(feed.takeTruncated());
	const heartbeat = setInterval(() => void notify("heartbeat", { cursor: feed.cursor }).catch(() => {}), HEARTBEAT);
	try {
		while (!signal.aborted) {
			if (feed.takeTruncated()) {
				await tellStart(true);
			}
			for (const event of feed.next(1)) {
				await notify("event", { ...occurrence(event), cursor: feed.cursor });
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
