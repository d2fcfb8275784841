import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Hono } from "hono";
import * as z from "zod";
import { GatewayError } from "../gateway-error.js";
import { allow, type ClientAdmission, eventStreams, type HttpEnv, mayOperate, readJsonAs } from "../http/route.js";
import type { Fleet, FleetRow } from "./fleet.js";
import { PROBLEMS, type Problem } from "./messages.js";

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

const FLEET_VIEW = z.strictObject({
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

/** All devices and configured servers in numbers. */
export type FleetTotals = ReturnType<typeof totalsOf>;

export function totalsOf(rows: readonly SearchedRow[]) {
	const count = (isCounted: (row: FleetRow) => boolean): number => rows.filter(({ row }) => isCounted(row)).length;
	const problems = PROBLEMS.map((problem) => [problem, count((row) => row.problem === problem)] as const);
	const tags = new Set(rows.flatMap(({ row }) => row.tags));
	return {
		all: rows.length,
		online: count(({ online }) => online),
		problems: Object.fromEntries(problems) as Readonly<Record<Problem, number>>,
		tags: [...tags].sort().slice(0, MAX_TAGS),
	};
}

/**
 * Serves the fleet to pages.
 *
 * - `GET /console/stream`: server-sent events, each a FleetMessage: the totals, and the part of the table or device that the page
 *   shows; then each part that has changed. Filtered by the access of the session's token.
 * - `PUT /console/stream/ID` with a FleetView: sets the view of the page.
 */
export function addFleetStreams(app: Hono<HttpEnv>, fleet: Fleet, maxBodyBytes: number): void {
	const pages = new Map<string, { readonly principal: string; readonly look: (view: FleetView) => void }>();
	const startStream = eventStreams("consoles");
	app.all("/console/stream", allow("GET"), (c) => {
		const id = randomUUID();
		const { outgoing } = c.env;
		const { admission } = c.var;
		startStream(admission.owner, outgoing);
		const look = streamPage(fleet, outgoing, admission, id);
		pages.set(id, { principal: admission.access.principal, look });
		outgoing.once("close", () => pages.delete(id));
		return RESPONSE_ALREADY_SENT;
	});
	app.all("/console/stream/:id", allow("PUT"), async (c) => {
		const view = await readJsonAs(FLEET_VIEW, "view", c.env.incoming, maxBodyBytes);
		const page = pages.get(c.req.param("id"));
		if (page?.principal !== c.var.admission.access.principal) {
			throw new GatewayError("not-found", "unknown stream");
		}
		page.look(view);
		return c.body(null, 204);
	});
}

/** Sends a page the content of its view, and then each change. Returns a function that sets another view. */
function streamPage(fleet: Fleet, response: ServerResponse, admission: ClientAdmission, id: string) {
	/** The parts that the page has, as JSON. */
	const sent = new Map<string, string>();
	let view: FleetView = {};
	const update = (): void => {
		// A page that does not read skips stale updates.
		if (response.writableNeedDrain || response.destroyed) {
			return;
		}
		const content = contentFor(fleet, view, admission);
		const rows = view.list?.hasStatus ? content.list?.rows : content.device && [content.device.row];
		fleet.show(update, rows?.map((row) => row.id) ?? []);
		const different = Object.entries({ stream: id, ...content }).flatMap(([name, part]) => {
			const text = JSON.stringify(part);
			const isSent = sent.get(name) === text;
			sent.set(name, text);
			return isSent ? [] : [`${JSON.stringify(name)}:${text}`];
		});
		if (different.length > 0) {
			response.write(`data: {${different.join(",")}}\n\n`);
		}
	};
	response.once("close", fleet.follow(update));
	response.on("drain", update);
	update();
	return (next: FleetView): void => {
		view = next;
		sent.delete("list");
		sent.delete("device");
		update();
	};
}

/** One message of the stream. Absent members have not changed. */
export type FleetMessage = Partial<ReturnType<typeof contentFor>> & {
	/** Name of the stream, for requests that set its view. Only in the first message. */
	readonly stream?: string;
};

/** Content of a view, within the page's rights. */
function contentFor(fleet: Fleet, { list, device }: FleetView, admission: ClientAdmission) {
	const { access } = admission;
	const { approvals, ...lists } = fleet.lists;
	const found = list && fleet.find(list, access);
	const part = list && found?.slice(list.offset, list.offset + list.count);
	const rows = part?.map(({ row }) => (list?.hasStatus ? fleet.withStatus(row, access) : row));
	return {
		totals: fleet.totals(access),
		...(list && found && rows && { list: { found: found.length, offset: list.offset, rows } }),
		...(device !== undefined && { device: fleet.detail(device, access) ?? null }),
		// Other clients and rejections are for those who may see every device.
		...(access.devices === undefined && !access.isForeignPage && lists),
		...(mayOperate(admission) && { approvals, logged: device === undefined ? 0 : fleet.loggedAt(device) }),
	};
}
