import { batch, computed, signal } from "@preact/signals";
import type {
	CallEntry,
	FirmwareEntry,
	FleetMessage,
	FleetRow,
	OperatorLists,
} from "../../../src/http/console/messages.js";

/** Calls that are kept, and states of one device. */
const MAX_CALLS = 500;
const MAX_STATES = 24;

/** A state of a device, since a time in milliseconds since 1970. */
export interface StateChange {
	readonly state: string;
	readonly since: number;
}

/** Every device and configured server, by id. */
export const rows = signal<ReadonlyMap<string, FleetRow>>(new Map());

/** Whether every row has arrived since the page was opened. */
export const isComplete = signal(false);

/** The last calls, the newest first. */
export const calls = signal<readonly CallEntry[]>([]);

/** The last step of each device's firmware update. */
export const firmware = signal<ReadonlyMap<string, FirmwareEntry>>(new Map());

/** The short lists. Undefined: the session may not see them. */
export const lists = signal<Partial<OperatorLists>>({});

/** The states that devices went through while the page was open. */
export const states = signal<ReadonlyMap<string, readonly StateChange[]>>(new Map());

export const devices = computed(() => [...rows.value.values()].filter(({ kind }) => kind === "device"));

/** Ids that came since the stream was opened: when it is complete, the others are gone. */
let seen = new Set<string>();

/** The stream begins anew. */
export function restart(): void {
	seen = new Set();
}

/** Applies a message of the stream. */
export function apply({ rows: changed, gone, calls: ended, firmware: steps, complete, ...rest }: FleetMessage): void {
	batch(() => {
		if (changed !== undefined || gone !== undefined || complete) {
			rows.value = mergeRows(changed ?? [], gone ?? [], complete === true);
		}
		if (ended !== undefined) {
			calls.value = mergeCalls(ended);
		}
		if (steps !== undefined) {
			firmware.value = new Map([...firmware.value, ...steps.map((step) => [step.device, step] as const)]);
		}
		if (Object.keys(rest).length > 0) {
			lists.value = { ...lists.value, ...rest };
		}
		if (complete) {
			isComplete.value = true;
		}
	});
}

function mergeRows(changed: readonly FleetRow[], gone: readonly string[], complete: boolean): Map<string, FleetRow> {
	const merged = new Map(rows.value);
	rememberStates(changed);
	for (const row of changed) {
		merged.set(row.id, row);
		seen.add(row.id);
	}
	for (const id of gone) {
		merged.delete(id);
	}
	if (complete) {
		for (const id of merged.keys()) {
			if (!seen.has(id)) {
				merged.delete(id);
			}
		}
	}
	return merged;
}

function rememberStates(changed: readonly FleetRow[]): void {
	let next: Map<string, readonly StateChange[]> | undefined;
	for (const { id, state, online } of changed) {
		const before = (next ?? states.value).get(id) ?? [];
		const current = online ? (state ?? "online") : "offline";
		if (before.at(-1)?.state !== current) {
			next ??= new Map(states.value);
			next.set(id, [...before, { state: current, since: Date.now() }].slice(-MAX_STATES));
		}
	}
	states.value = next ?? states.value;
}

/** A stream that begins anew sends calls that are known already. */
function mergeCalls(ended: readonly CallEntry[]): readonly CallEntry[] {
	const newest = calls.value[0]?.time ?? 0;
	return [...ended.filter(({ time }) => time > newest).reverse(), ...calls.value].slice(0, MAX_CALLS);
}
