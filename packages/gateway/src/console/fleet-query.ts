import * as z from "zod";
import { type FleetRow, type FleetTotals, PROBLEMS } from "./messages.js";

/** Rows in one part of the table. */
const MAX_ROWS = 200;

/** Tags that the totals name. */
const MAX_TAGS = 500;

const SORT_KEYS = {
	name: ({ alias, title = alias }: FleetRow) => title,
	state: ({ online, state = "" }: FleetRow) => (online ? `1 ${state}` : "2"),
	board: ({ board, version }: FleetRow) => `${board} ${version}`,
	since: ({ since }: FleetRow) => since,
	calls: ({ calls }: FleetRow) => calls?.count ?? 0,
};

type SortColumn = keyof typeof SORT_KEYS;

const SORT_COLUMNS = Object.keys(SORT_KEYS) as SortColumn[];

export const FLEET_VIEW = z.strictObject({
	list: z
		.strictObject({
			/** Words that are all in a device's alias, title, id, board, version, state or tags. */
			search: z.string().max(200).default(""),
			filter: z.enum(["all", "problems", "online", ...PROBLEMS]).default("all"),
			tag: z.string().max(200).default(""),
			/** A column, after "-" in descending order. Empty: favourites, then those with problems, then by name. */
			sort: z.enum(["", ...SORT_COLUMNS, ...SORT_COLUMNS.map((column) => `-${column}` as const)]).default(""),
			/** Devices before the part, and in it. */
			offset: z.int().min(0).max(1_000_000),
			count: z.int().min(0).max(MAX_ROWS),
			/** Whether rows have statuses. */
			hasStatus: z.boolean().exactOptional(),
		})
		.exactOptional(),
	device: z.string().max(200).exactOptional(),
});

/** The view of a page: a part of the table, one device by alias or id, or neither. */
export type FleetView = z.output<typeof FLEET_VIEW>;

/** The devices that are meant. */
export type FleetQuery = Omit<NonNullable<FleetView["list"]>, "offset" | "count" | "hasStatus">;

/** A row, and the text in which searches look. */
export interface SearchedRow {
	readonly row: FleetRow;
	readonly text: string;
}

export function searched(row: FleetRow): SearchedRow {
	const { alias, title = "", id, board, version, tags, state = "" } = row;
	return { row, text: [alias, title, id, board, version, state, ...tags].join("\n").toLowerCase() };
}

/** The rows that a query finds, in its order. Rows that are equal in a column stay in their order. */
export function matching(
	rows: readonly SearchedRow[],
	{ search, filter, tag, sort }: FleetQuery,
): readonly SearchedRow[] {
	const words = search.toLowerCase().split(/\s+/).filter(Boolean);
	const isAll = words.length === 0 && filter === "all" && tag === "";
	const isIn = ({ online, problem }: FleetRow): boolean =>
		filter === "all" ||
		(filter === "online" ? online : filter === "problems" ? problem !== undefined : problem === filter);
	const found = rows.filter(
		({ row, text }) =>
			isAll || (words.every((word) => text.includes(word)) && isIn(row) && (tag === "" || row.tags.includes(tag))),
	);
	if (sort === "") {
		return found;
	}
	const keyOf = SORT_KEYS[sort.replace("-", "") as SortColumn];
	const direction = sort.startsWith("-") ? -1 : 1;
	// Each key is made once.
	const keyed = found.map((each) => ({ each, key: keyOf(each.row) }));
	keyed.sort(({ key: one }, { key: other }) => direction * (one < other ? -1 : Number(one > other)));
	return keyed.map(({ each }) => each);
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
