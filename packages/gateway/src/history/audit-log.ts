import { type Access, hasUserTools, reaches } from "../config/access.js";
import type { AuditedChange } from "../http/route.js";
import { JsonLines } from "./json-lines.js";

/** Maximum length of a request's path, in characters. */
const MAX_REQUEST = 300;

interface AuditedCall {
	/** ISO 8601. */
	readonly time: string;
	/** The caller: a token's name, or "local". */
	readonly principal: string;
	/** The application that called, as it names itself. */
	readonly client?: string | undefined;
	/** The device's id, and its alias at the time. */
	readonly device: string;
	readonly alias?: string | undefined;
	readonly tool: string;
	/** JSON, cut, without secrets. */
	readonly args?: string | undefined;
	readonly userOnly?: boolean;
	readonly outcome: string;
	/** Milliseconds. */
	readonly duration: number;
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

/** The log of calls and changes, on disk. */
export class AuditLog extends JsonLines {
	/** Records a change over HTTP. */
	requested(principal: string, request: string, status: number, change?: AuditedChange): void {
		const time = new Date().toISOString();
		this.append({ time, principal, request: request.slice(0, MAX_REQUEST), status, ...(change && { change }) });
	}

	/** Finds the entries that a client may see, the oldest first. Arguments of user-only tools need the right to call them. */
	async *find({ device, principal, from = "", to = "~" }: AuditQuery, access: Access): AsyncGenerator<AuditEntry> {
		for await (const line of this.read()) {
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
	}
}
