import { Readable } from "node:stream";
import type { Context } from "hono";
import { describeIssues } from "xs-mcp-manager/core";
import * as z from "zod";
import { type Access, hasUserTools, reaches } from "../config/access.js";
import type { CallEntry } from "../console/messages.js";
import type { RunningGateway } from "../gateway.js";
import { GatewayError } from "../gateway-error.js";
import { type AuditedChange, allow, deviceOf, type HttpEnv, needsOperator } from "../http/route.js";
import { openJsonLines } from "./json-lines.js";
import type { Kept } from "./plugin.js";

/** Maximum length of a request's path, in characters. */
const MAX_REQUEST = 300;

interface AuditedCall extends Pick<CallEntry, "principal" | "client" | "tool" | "title" | "args" | "duration"> {
	/** ISO 8601. */
	readonly time: string;
	/** The device's id, and its alias at the time. */
	readonly device: string;
	readonly alias?: string | undefined;
	readonly userOnly?: boolean | undefined;
	readonly outcome: string;
}

/** A call, or a change over HTTP: "DELETE /tokens/kiosk". */
export type AuditEntry =
	| AuditedCall
	| {
			readonly time: string;
			readonly principal: string;
			readonly request: string;
			readonly status: number;
			readonly change?: AuditedChange | undefined;
	  };

/** Filter of entries. Times are in ISO 8601. */
type AuditQuery = Readonly<Partial<Record<"device" | "principal" | "from" | "to", string>>>;

/** Opens the log of calls and changes, on disk. */
export function openAuditLog(...options: Parameters<typeof openJsonLines>) {
	const lines = openJsonLines(...options);
	return Object.assign(lines, {
		/** Records a change over HTTP. */
		requested(principal: string, request: string, status: number, change?: AuditedChange): void {
			const time = new Date().toISOString();
			lines.append({ time, principal, request: request.slice(0, MAX_REQUEST), status, ...(change && { change }) });
		},
		/** Finds the entries that a client may see, the oldest first. Arguments of user-only tools need the right to call them. */
		async *find({ device, principal, from = "", to = "~" }: AuditQuery, access: Access): AsyncGenerator<AuditEntry> {
			for await (const line of lines.read()) {
				const entry = line as unknown as AuditEntry;
				const call = "device" in entry ? entry : undefined;
				const isFound =
					(device === undefined || call?.device === device) &&
					(principal === undefined || entry.principal === principal) &&
					entry.time >= from &&
					entry.time <= to;
				if (isFound && (call === undefined || reaches(access, call.device))) {
					yield call?.userOnly && !hasUserTools(access, call.device) ? { ...call, args: undefined } : entry;
				}
			}
		},
	});
}
export type AuditLog = ReturnType<typeof openAuditLog>;

/** Milliseconds before `to` that are shown by default. */
const DAY = 86_400_000;

/** Entries of the audit log in an answer: by default, and at most. */
const ENTRIES = 200;
const MAX_ENTRIES = 1_000;

const TIME = z
	.string()
	.transform((text) => (/^[0-9]{1,16}$/.test(text) ? Number(text) : Date.parse(text)))
	.refine((time) => !Number.isNaN(new Date(time).getTime()), "expected milliseconds since 1970, or ISO 8601")
	.optional();

const QUERY = z.object({
	from: TIME,
	to: TIME,
	device: z.string().optional(),
	principal: z.string().optional(),
	limit: z.coerce
		.number()
		.refine((limit) => limit >= 1 && limit <= MAX_ENTRIES && limit % 1 === 0, `expected 1 to ${MAX_ENTRIES}`)
		.default(ENTRIES),
});

/**
 * Serves the history and the log of devices, and the audit log. Times are milliseconds since 1970, or ISO 8601.
 *
 * - `GET /devices/NAME/history?from=…&to=…`: readings and states of a device, by default of the last day.
 * - `GET /devices/NAME/log?from=…&to=…`: the newest messages of the device's log, the newest first.
 * - `GET /audit?device=…&principal=…&from=…&to=…&limit=…`: the newest entries, the newest first.
 * - `GET /audit.jsonl`, with the same parameters: every entry, the oldest first, one a line.
 */
export function addHistoryRoutes({ routes: app, servers }: RunningGateway, { history, audit }: Kept): void {
	app.all("/devices/:device/history", allow("GET"), async (c) => {
		const span = spanOf(c);
		const device = enabled(history, "historyBytes").find(deviceOf(c, servers).id);
		return c.json({ ...span, ...((await device?.read(span)) ?? { values: {}, states: [] }) });
	});
	app.all("/devices/:device/log", allow("GET"), needsOperator, async (c) => {
		const device = enabled(history, "historyBytes").find(deviceOf(c, servers).id);
		return c.json({ messages: (await device?.readLog(spanOf(c))) ?? [] });
	});
	const found = (c: Context<HttpEnv>): AsyncGenerator<AuditEntry> => {
		const { device, principal, ...times } = queryOf(c);
		const [from, to] = [times.from, times.to].map((time) =>
			time === undefined ? undefined : new Date(time).toISOString(),
		);
		// A device that was forgotten is known by its id only.
		const query = { device: device && (servers.find(device)?.id ?? device), principal, from, to };
		return enabled(audit, "auditBytes").find(query, c.var.admission.access);
	};
	app.all("/audit", allow("GET"), needsOperator, async (c) => {
		const { limit } = queryOf(c);
		const entries: AuditEntry[] = [];
		for await (const entry of found(c)) {
			entries.push(entry);
			entries.splice(0, entries.length - limit);
		}
		return c.json({ entries: entries.reverse() });
	});
	app.all("/audit.jsonl", allow("GET"), needsOperator, (c) => {
		const lines = Readable.from(found(c)).map((entry) => Buffer.from(`${JSON.stringify(entry)}\n`));
		c.header("Content-Type", "application/jsonl");
		c.header("Content-Disposition", 'attachment; filename="xs-mcp-audit.jsonl"');
		return c.body(Readable.toWeb(lines) as ReadableStream<Uint8Array>);
	});
}

function enabled<T>(kept: T | undefined, setting: string): T {
	if (kept === undefined) {
		throw new GatewayError("not-found", `nothing is kept: the setting ${setting} is 0`);
	}
	return kept;
}

function queryOf(c: Context<HttpEnv>): z.output<typeof QUERY> {
	const { data, error } = QUERY.safeParse(c.req.query());
	if (data === undefined) {
		throw new GatewayError("malformed", describeIssues(error.issues, "query"));
	}
	return data;
}

function spanOf(c: Context<HttpEnv>) {
	const { to = Date.now(), from = to - DAY } = queryOf(c);
	return { from, to };
}
