import * as z from "zod";
import { type Access, hasUserTools, reaches } from "../config/access.js";
import type { JsonLines } from "./json-lines.js";

/** Characters of a request's path. */
const MAX_REQUEST = 300;

const CALL = z.object({
	time: z.string(),
	/** The caller: a token's name, or "local". */
	principal: z.string(),
	/** The application that called, as it names itself. */
	client: z.string().optional(),
	/** The device's id, and its alias at the time. */
	device: z.string(),
	alias: z.string().optional(),
	tool: z.string(),
	/** As JSON, cut, without secrets. */
	args: z.string().optional(),
	userOnly: z.boolean().optional(),
	outcome: z.string(),
	/** Milliseconds. */
	duration: z.number(),
});

const REQUEST = z.object({
	time: z.string(),
	principal: z.string(),
	/** A change over HTTP: "DELETE /tokens/kiosk". */
	request: z.string(),
	status: z.number(),
});

const ENTRY = z.union([CALL, REQUEST]);

/** A call, or a change over HTTP. */
export type AuditEntry = z.infer<typeof ENTRY>;

/** Which entries are meant. */
export interface AuditQuery {
	/** A device's id. */
	readonly device?: string | undefined;
	readonly principal?: string | undefined;
	/** ISO 8601. */
	readonly from?: string | undefined;
	readonly to?: string | undefined;
}

/** The log of calls and changes, on disk. */
export class AuditLog {
	readonly #lines: JsonLines;

	constructor(lines: JsonLines) {
		this.#lines = lines;
	}

	/** Bytes on disk. */
	get bytes(): number {
		return this.#lines.bytes;
	}

	/** Records a call that has ended. */
	called(call: Omit<z.infer<typeof CALL>, "time">): void {
		this.#append({ time: new Date().toISOString(), ...call });
	}

	/** Records a change over HTTP. */
	requested(principal: string, request: string, status: number): void {
		this.#append({ time: new Date().toISOString(), principal, request: request.slice(0, MAX_REQUEST), status });
	}

	/** The entries that a query finds and a client may see, the oldest first. */
	async *find(query: AuditQuery, access: Access): AsyncGenerator<AuditEntry> {
		for await (const line of this.#lines.read()) {
			const { data } = ENTRY.safeParse(line);
			if (data !== undefined && matches(data, query)) {
				const shown = entryFor(data, access);
				if (shown !== undefined) {
					yield shown;
				}
			}
		}
	}

	/** Settles when everything is written. */
	async close(): Promise<void> {
		await this.#lines.close();
	}

	#append(entry: AuditEntry): void {
		this.#lines.append(entry);
	}
}

function matches(entry: AuditEntry, { device, principal, from, to }: AuditQuery): boolean {
	return (
		(device === undefined || ("device" in entry && entry.device === device)) &&
		(principal === undefined || entry.principal === principal) &&
		(from === undefined || entry.time >= from) &&
		(to === undefined || entry.time <= to)
	);
}

/** An entry without what a client may not see; undefined if it may not see it at all. */
function entryFor(entry: AuditEntry, access: Access): AuditEntry | undefined {
	if (!("device" in entry)) {
		return entry;
	}
	const { args: _, ...rest } = entry;
	const maySee = entry.userOnly !== true || hasUserTools(access, entry.device);
	return reaches(access, entry.device) ? (maySee ? entry : rest) : undefined;
}
