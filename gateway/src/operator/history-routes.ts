import { Readable } from "node:stream";
import type { Context } from "hono";
import type { ServerRegistry } from "xs-mcp-manager/core";
import type { AuditEntry, AuditLog, AuditQuery } from "../history/audit-log.js";
import type { Span } from "../history/device-history.js";
import type { History } from "../history/history.js";
import { HttpError } from "../http/http-error.js";
import type { HttpEnv, Route } from "../http/route.js";
import { deviceOf } from "./operator-routes.js";

/** Milliseconds before now that are shown by default. */
const DAY = 86_400_000;

/** Entries of the audit log in an answer: by default, and at most. */
const ENTRIES = 200;
const MAX_ENTRIES = 1_000;

/** `GET /devices/NAME/history?from=…&to=…`: what a device measured, and its states. */
export function showHistory(servers: ServerRegistry, history: History | undefined): Route {
	return async (c) => {
		const { id } = deviceOf(c, servers);
		const span = spanOf(c);
		return c.json({ ...span, ...(await enabled(history, "historyBytes").read(id, span)) });
	};
}

/** `GET /devices/NAME/log?from=…&to=…`: the newest messages of its own log, the newest first. */
export function showLog(servers: ServerRegistry, history: History | undefined): Route {
	return async (c) => {
		const { id } = deviceOf(c, servers);
		return c.json({ messages: await enabled(history, "historyBytes").readLog(id, spanOf(c)) });
	};
}

/** `GET /audit?device=…&principal=…&from=…&to=…&limit=…`: the newest entries, the newest first. */
export function showAudit(servers: ServerRegistry, audit: AuditLog | undefined): Route {
	return async (c) => {
		const limit = limitOf(c);
		const entries: AuditEntry[] = [];
		for await (const entry of enabled(audit, "auditBytes").find(queryOf(c, servers), c.var.admission.access)) {
			entries.push(entry);
			if (entries.length > limit) {
				entries.shift();
			}
		}
		return c.json({ entries: entries.reverse() });
	};
}

/** `GET /audit.jsonl`, with the same parameters: every entry, the oldest first, one a line. */
export function exportAudit(servers: ServerRegistry, audit: AuditLog | undefined): Route {
	return (c) => {
		const entries = enabled(audit, "auditBytes").find(queryOf(c, servers), c.var.admission.access);
		const lines = async function* (): AsyncGenerator<Buffer> {
			for await (const entry of entries) {
				yield Buffer.from(`${JSON.stringify(entry)}\n`);
			}
		};
		c.header("Content-Type", "application/jsonl");
		c.header("Content-Disposition", 'attachment; filename="xs-mcp-audit.jsonl"');
		return c.body(Readable.toWeb(Readable.from(lines())) as ReadableStream<Uint8Array>);
	};
}

function enabled<T>(kept: T | undefined, setting: string): T {
	if (kept === undefined) {
		throw new HttpError(404, "not-found", `nothing is kept: the setting ${setting} is 0`);
	}
	return kept;
}

/** The last day, unless the request says otherwise. */
function spanOf(c: Context<HttpEnv>): Span {
	const to = timeOf(c, "to") ?? Date.now();
	return { from: timeOf(c, "from") ?? to - DAY, to };
}

/** A time in the query: milliseconds since 1970, or ISO 8601. */
function timeOf(c: Context<HttpEnv>, name: "from" | "to"): number | undefined {
	const text = c.req.query(name);
	if (text === undefined) {
		return undefined;
	}
	const time = /^[0-9]{1,16}$/.test(text) ? Number(text) : Date.parse(text);
	if (Number.isNaN(new Date(time).getTime())) {
		throw new HttpError(400, "malformed", `${name}: expected milliseconds since 1970, or ISO 8601`);
	}
	return time;
}

function limitOf(c: Context<HttpEnv>): number {
	const text = c.req.query("limit") ?? `${ENTRIES}`;
	const limit = /^[0-9]{1,4}$/.test(text) ? Number(text) : 0;
	if (limit < 1 || limit > MAX_ENTRIES) {
		throw new HttpError(400, "malformed", `limit: expected 1 to ${MAX_ENTRIES}`);
	}
	return limit;
}

function queryOf(c: Context<HttpEnv>, servers: ServerRegistry): AuditQuery {
	const name = c.req.query("device");
	const [from, to] = (["from", "to"] as const).map((each) => timeOf(c, each));
	return {
		// One that was forgotten is known by its id only.
		device: name && (servers.find(name)?.id ?? name),
		principal: c.req.query("principal"),
		from: from === undefined ? undefined : new Date(from).toISOString(),
		to: to === undefined ? undefined : new Date(to).toISOString(),
	};
}
