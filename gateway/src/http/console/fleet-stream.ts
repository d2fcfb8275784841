import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Access, reaches } from "../../catalog/access.js";
import { HttpError } from "../server/http-error.js";
import type { Route } from "../server/route.js";
import type { Fleet } from "./fleet.js";
import type { FleetMessage } from "./messages.js";

/** Most pages that are open at the same time. */
const MAX_PAGES = 50;

/** Rows in one message of the initial list. */
const ROWS_PER_MESSAGE = 250;

/** Bytes that may wait for a page that does not read; beyond, its stream ends, and it opens another one. */
const MAX_BACKLOG = 2 * 1024 * 1024;

/** Milliseconds between comments in a quiet stream: proxies keep it open, and a page notices that it was lost. */
const KEEP_ALIVE = 10_000;

/**
 * `GET /console/stream`: server-sent events, each a FleetMessage. First every row, page by page, then what changes. Only what
 * the session's token can access.
 */
export function streamFleet(fleet: Fleet): Route {
	return (c) => {
		if (fleet.listenerCount("change") >= MAX_PAGES) {
			throw new HttpError(503, "busy", `too many consoles are open (limit ${MAX_PAGES})`);
		}
		void send(fleet, c.env.outgoing, c.var.admission.access);
		return RESPONSE_ALREADY_SENT;
	};
}

async function send(fleet: Fleet, response: ServerResponse, access: Access): Promise<void> {
	response.writeHead(200, { "Content-Type": "text/event-stream", "X-Accel-Buffering": "no" });
	const write = (message: FleetMessage): void => {
		const seen = visible(message, access);
		if (response.writableLength > MAX_BACKLOG) {
			response.destroy();
		} else if (Object.keys(seen).length > 0) {
			response.write(`data: ${JSON.stringify(seen)}\n\n`);
		}
	};
	// Listens first: what changes while the list is sent comes twice, but is never missed.
	const unfollow = fleet.follow(write);
	const timer = setInterval(() => response.write(":\n\n"), KEEP_ALIVE);
	response.once("close", () => {
		clearInterval(timer);
		unfollow();
	});
	write({ ...fleet.lists, calls: fleet.activity.calls });
	const rows = fleet.rows.filter(({ id }) => reaches(access, id));
	for (let at = 0; at < rows.length && !response.destroyed; at += ROWS_PER_MESSAGE) {
		// As they are now, because some may have changed or gone in the meantime.
		const ids = rows.slice(at, at + ROWS_PER_MESSAGE).map(({ id }) => id);
		write({ rows: ids.flatMap((id) => fleet.row(id) ?? []) });
		await drained(response);
	}
	write({ complete: true });
}

/** Settles when the response takes more, or is closed. */
async function drained(response: ServerResponse): Promise<void> {
	if (response.writableNeedDrain && !response.destroyed) {
		const settled = new AbortController();
		const { signal } = settled;
		await Promise.race([once(response, "drain", { signal }), once(response, "close", { signal })]).catch(() => {});
		settled.abort();
	}
}

/** What a client with this access may see of a message. */
function visible({ rows, gone, calls, firmware, complete, ...lists }: FleetMessage, access: Access): FleetMessage {
	const own = <T>(entries: readonly T[] | undefined, idOf: (entry: T) => string): readonly T[] =>
		(entries ?? []).filter((entry) => reaches(access, idOf(entry)));
	const seen = {
		rows: own(rows, ({ id }) => id),
		gone: own(gone, (id) => id),
		calls: own(calls, ({ serverId }) => serverId),
		firmware: own(firmware, ({ device }) => device),
	};
	return {
		...Object.fromEntries(Object.entries(seen).filter(([, entries]) => entries.length > 0)),
		...(complete && { complete }),
		// Who else is connected, and what was rejected, concerns those who may see every device.
		...(access.devices === undefined && !access.isForeignPage && lists),
	};
}
