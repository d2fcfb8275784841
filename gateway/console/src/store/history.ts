import type { Tool } from "@modelcontextprotocol/client";
import type { AuditEntry } from "../../../src/history/audit-log.js";
import type { HistoryPart } from "../../../src/history/device-history.js";
import { ask } from "./api.js";
import { type Control, type ControlInput, controlsOf } from "./controls.js";
import { isObject, type Series } from "./device.js";
import { type Reading, readingsIn } from "./readings.js";

/** A device's measurements in a span of time, in milliseconds since 1970. */
export interface DevicePast extends HistoryPart {
	readonly from: number;
	readonly to: number;
}

/** Rejects with ApiError: 404 if the gateway keeps no history. */
export async function readPast(alias: string, span: number): Promise<DevicePast> {
	return await ask(`devices/${encodeURIComponent(alias)}/history?from=${Date.now() - span}`);
}

/** A series of the past, and what it is of. */
export type PastSeries = { readonly path: string; readonly series: Series } & (
	| { readonly reading: Reading }
	| { readonly control: Control; readonly input: ControlInput }
);

/**
 * The series of readings and controls, in their order.
 *
 * @param status as it is now, with names and units; empty while the device is offline
 */
export function seriesOf({ values, to }: DevicePast, tools: readonly Tool[], status: object) {
	const known = Object.keys(status).length > 0 ? status : statusFrom(values);
	const controls = controlsOf(tools, known);
	const of = (path: string): { path: string; series: Series } | undefined => {
		const points = (values[path] ?? []).filter(([, value]) => typeof value !== "string");
		const [last] = points.slice(-1);
		// A value holds until the next one.
		const all = last === undefined ? [] : [...points, [to, last[1]] as const];
		const series = { times: all.map(([time]) => time / 1_000), values: all.map(([, value]) => Number(value)) };
		return all.length === 0 ? undefined : { path, series };
	};
	const { readings } = readingsIn(known, new Set());
	const inputs = controls.flatMap((control) => control.inputs.map((input) => ({ control, input })));
	const controlled = new Set(inputs.map(({ input }) => input.path));
	const found: PastSeries[] = [
		...inputs.flatMap((each) => ({ ...each, ...of(each.input.path ?? "") })).filter(isFound),
		...readings
			.filter(({ path }) => !controlled.has(path))
			.map((reading) => ({ reading, ...of(reading.path) }))
			.filter(isFound),
	];
	return { controls, found };
}

function isFound<T extends object>(each: T): each is T & { path: string; series: Series } {
	return "series" in each;
}

/** A status with the last values, of a device that cannot be asked. */
function statusFrom(values: DevicePast["values"]): object {
	const status: Record<string, unknown> = Object.create(null);
	for (const [path, points] of Object.entries(values)) {
		const keys = path.split(".");
		const last = keys.pop() as string;
		let place: unknown = status;
		for (const key of keys) {
			if (isObject(place)) {
				(place as Record<string, unknown>)[key] ??= Object.create(null);
				place = place[key];
			}
		}
		if (isObject(place)) {
			(place as Record<string, unknown>)[last] = points.at(-1)?.[1];
		}
	}
	return status;
}

/** Which entries of the audit log are meant; empty: any. */
export interface AuditQuery {
	readonly device: string;
	readonly principal: string;
}

/** The query of an address of the audit log. */
export function auditQuery(query: AuditQuery): string {
	return new URLSearchParams(Object.entries(query).filter(([, value]) => value !== "")).toString();
}

/** The newest entries, the newest first. Rejects with ApiError: 404 if the gateway keeps none. */
export async function readAudit(query: AuditQuery): Promise<readonly AuditEntry[]> {
	return (await ask<{ entries: readonly AuditEntry[] }>(`audit?${auditQuery(query)}`)).entries;
}
