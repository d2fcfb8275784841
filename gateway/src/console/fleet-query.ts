import { z } from "zod";
import type { FleetQuery, FleetRow, FleetTotals, FleetView, Problem, SortColumn } from "./messages.js";

/** Rows in one part of the table. */
const MAX_ROWS = 200;

/** Tags that the totals name. */
const MAX_TAGS = 500;

const PROBLEMS = ["offline", "fatal", "rolledBack", "lastCall"] as const satisfies readonly Problem[];

const SORT_COLUMNS = ["name", "state", "board", "since", "calls"] as const satisfies readonly SortColumn[];

/** Sort key of each column. */
const SORT_KEYS: Readonly<Record<SortColumn, (row: FleetRow) => string | number>> = {
	name: ({ alias }) => alias,
	state: ({ online, state = "" }) => (online ? `1 ${state}` : "2"),
	board: ({ board, version }) => `${board} ${version}`,
	since: ({ since }) => since,
	calls: ({ calls }) => calls?.count ?? 0,
};

export const FLEET_VIEW: z.ZodType<FleetView> = z.strictObject({
	list: z
		.strictObject({
			search: z.string().max(200).default(""),
			filter: z.enum(["all", "problems", "online", ...PROBLEMS]).default("all"),
			tag: z.string().max(200).default(""),
			sort: z.enum(["", ...SORT_COLUMNS, ...SORT_COLUMNS.map((column) => `-${column}` as const)]).default(""),
			offset: z.int().min(0).max(1_000_000),
			count: z.int().min(0).max(MAX_ROWS),
		})
		.exactOptional(),
	device: z.string().max(200).exactOptional(),
});

/** A row, and the text in which searches look. */
export interface SearchedRow {
	readonly row: FleetRow;
	readonly text: string;
}

export function searched(row: FleetRow): SearchedRow {
	const { alias, id, board, version, tags, state = "" } = row;
	return { row, text: [alias, id, board, version, state, ...tags].join("\n").toLowerCase() };
}

/** The rows that a query finds, in its order: of thousands of rows, with each key that is typed. */
export function matching(rows: readonly SearchedRow[], query: FleetQuery): readonly SearchedRow[] {
	const found = filtered(rows, query);
	return query.sort === "" ? found : sorted(found, query.sort);
}

/** Rows that are equal in the column stay in their order. */
function sorted(rows: readonly SearchedRow[], sort: Exclude<FleetQuery["sort"], "">): readonly SearchedRow[] {
	const isDescending = sort.startsWith("-");
	const keyOf = SORT_KEYS[sort.replace("-", "") as SortColumn];
	const direction = isDescending ? -1 : 1;
	const keyed = rows.map((each) => ({ each, key: keyOf(each.row) }));
	keyed.sort(({ key: one }, { key: other }) => direction * (one < other ? -1 : Number(one > other)));
	return keyed.map(({ each }) => each);
}

function filtered(rows: readonly SearchedRow[], { search, filter, tag }: FleetQuery): readonly SearchedRow[] {
	const words = search.toLowerCase().split(/\s+/).filter(Boolean);
	if (words.length === 0 && filter === "all" && tag === "") {
		return rows;
	}
	return rows.filter(
		({ row, text }) =>
			words.every((word) => text.includes(word)) && isIn(row, filter) && (tag === "" || row.tags.includes(tag)),
	);
}

function isIn({ online, problem }: FleetRow, filter: FleetQuery["filter"]): boolean {
	switch (filter) {
		case "all":
			return true;
		case "problems":
			return problem !== undefined;
		case "online":
			return online;
		default:
			return problem === filter;
	}
}

export function totalsOf(rows: readonly SearchedRow[]): FleetTotals {
	const problems = { offline: 0, fatal: 0, rolledBack: 0, lastCall: 0 };
	const tags = new Set<string>();
	let online = 0;
	for (const { row } of rows) {
		online += row.online ? 1 : 0;
		if (row.problem !== undefined) {
			problems[row.problem] += 1;
		}
		for (const tag of row.tags) {
			tags.add(tag);
		}
	}
	return { all: rows.length, online, problems, tags: [...tags].sort().slice(0, MAX_TAGS) };
}
