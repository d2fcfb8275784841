import { type Access, hasUserTools, reaches } from "../config/access.js";
import type { JsonLines } from "./json-lines.js";

/** Characters of a request's path. */
const MAX_REQUEST = 300;

interface AuditedCall {
	/** ISO 8601. */
	readonly time: string;
	/** The caller: a token's name, or "local". */
	readonly principal: string;
	/** The application that called, as it names itself. */
	readonly client?: string;
	/** The device's id, and its alias at the time. */
	readonly device: string;
	readonly alias?: string;
	readonly tool: string;
	/** As JSON, cut, without secrets. */
	readonly args?: string;
	readonly userOnly?: boolean;
	readonly outcome: string;
	/** Milliseconds. */
	readonly duration: number;
}

interface AuditedRequest {
	readonly time: string;
	readonly principal: string;
	/** A change over HTTP: "DELETE /tokens/kiosk". */
	readonly request: string;
	readonly status: number;
}

/** A call, or a change over HTTP. */
export type AuditEntry = AuditedCall | AuditedRequest;

/** Filter of entries. Times are in ISO 8601. */
export interface AuditQuery {
	/** A device's id. */
	readonly device?: string;
	readonly principal?: string;
	readonly from?: string;
	readonly to?: string;
}

/** The log of calls and changes, on disk. */
export class AuditLog {
	readonly lines: JsonLines;

	constructor(lines: JsonLines) {
		this.lines = lines;
	}

	/** Records a call that has ended. */
	called(call: Omit<AuditedCall, "time">): void {
		this.lines.append({ time: new Date().toISOString(), ...call });
	}

	/** Records a change over HTTP. */
	requested(principal: string, request: string, status: number): void {
		this.lines.append({ time: new Date().toISOString(), principal, request: request.slice(0, MAX_REQUEST), status });
	}

	/** Finds the entries of a query that a client may see, the oldest first. */
	async *find({ device, principal, from, to }: AuditQuery, access: Access): AsyncGenerator<AuditEntry> {
		for await (const line of this.lines.read()) {
			const entry = line as unknown as AuditEntry;
			const isFound =
				(device === undefined || ("device" in entry && entry.device === device)) &&
				(principal === undefined || entry.principal === principal) &&
				(from === undefined || entry.time >= from) &&
				(to === undefined || entry.time <= to);
			if (isFound && (!("device" in entry) || reaches(access, entry.device))) {
				yield withoutHidden(entry, access);
			}
		}
	}
}

/** An entry without the arguments of a user-only tool, unless the client may call it. */
function withoutHidden(entry: AuditEntry, access: Access): AuditEntry {
	return "device" in entry && entry.userOnly && !hasUserTools(access, entry.device)
		? { ...entry, args: undefined }
		: entry;
}
