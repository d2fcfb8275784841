import type { Tool } from "@modelcontextprotocol/server";
import { describeIssues } from "xs-mcp-manager/core";
import * as z from "zod";
import { GatewayError } from "../gateway-error.js";
import { CATALOG_MODES, type CatalogMode, type ListKind } from "../plugin.js";
import type { ServerLists } from "./server-lists.js";

/** Which tools a client's list has. */
export interface ToolView {
	/**
	 * "full": every tool. "groups": every tool, but shared ones only once. "search": the catalog tools, by which a client
	 * finds and calls the others, and pinned tools. "auto": the first of these that fits: see {@link chooseKind}.
	 */
	readonly catalog: CatalogMode;
	/** Tools of servers that a list may have, if `catalog` is "auto". */
	readonly catalogLimit: number;
	/** Names of tools that are always listed, as in the full list; with `*` at the end: every name that begins so. */
	readonly pinnedTools: readonly string[];
	/** "auto": tools name the panel of their device to clients that declare MCP Apps. "on": to every client. */
	readonly panels: (typeof PANEL_MODES)[number];
}

const PANEL_MODES = ["auto", "on"] as const;

export const DEFAULT_VIEW: ToolView = { catalog: "auto", catalogLimit: 80, pinnedTools: [], panels: "auto" };

/** Most pinned tools in a client's URL. */
const MAX_PINNED = 100;

const QUERY = z.object({
	catalog: z.enum(CATALOG_MODES, `expected one of ${CATALOG_MODES.join(", ")}`).optional(),
	catalogLimit: z
		.string()
		.regex(/^[0-9]{1,6}$/, "expected a whole number from 0 to 999999")
		.transform(Number)
		.optional(),
	pinnedTools: z
		.string()
		.transform((names) => names.split(",").filter((name) => name !== ""))
		.pipe(
			z
				.array(z.string().regex(/^[^*]{0,128}\*?$/, 'expected names, or beginnings of names with "*" at the end'))
				.max(MAX_PINNED, `expected at most ${MAX_PINNED} names`),
		)
		.optional(),
	panels: z.enum(PANEL_MODES, `expected one of ${PANEL_MODES.join(", ")}`).optional(),
});

/**
 * Reads the view in the query of a client's URL: `catalog=search&pinnedTools=kitchen__*`. Other parameters are ignored.
 *
 * @throws GatewayError that names the parameter
 */
export function readView(query: string): Partial<ToolView> {
	const { data, error } = QUERY.safeParse(Object.fromEntries(new URLSearchParams(query)));
	if (error !== undefined) {
		// Names the parameter, not the item of its list.
		const [{ path, message }] = error.issues as [z.core.$ZodIssue];
		throw new GatewayError("invalid-params", describeIssues([{ path: path.slice(0, 1), message }], "query"));
	}
	return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined));
}

/** Servers in a list of groups, if `catalog` is "auto": so many can be named in the argument that chooses among them. */
const MAX_IN_GROUPS = 32;

/** A shorter kind of list is kept until a longer one needs only this part of its limits: devices come and go. */
const MARGIN = 0.75;

const KINDS: readonly ListKind[] = ["full", "groups", "search"];

/**
 * The kind of list that a view asks for. "auto" is the first kind whose limits hold.
 *
 * @param before the kind that the client knows
 */
export function chooseKind(
	{ catalog, catalogLimit }: ToolView,
	lists: ServerLists,
	before: ListKind | undefined,
): ListKind {
	const fits = (kind: ListKind): boolean => {
		const part = before !== undefined && KINDS.indexOf(kind) < KINDS.indexOf(before) ? MARGIN : 1;
		const most = catalogLimit * part;
		if (kind === "full") {
			return hasAtMost(lists, most);
		}
		if (lists.servers().length > MAX_IN_GROUPS * part) {
			return false;
		}
		const shared = [...lists.groups().values()].map(({ members }) => members.length - 1);
		return shared.reduce((tools, more) => tools - more, lists.tools().length) <= most;
	};
	return catalog === "auto" ? (KINDS.slice(0, -1).find(fits) ?? "search") : catalog;
}

/** Whether a full list has no more tools than that. The list is not made. */
function hasAtMost(lists: ServerLists, most: number): boolean {
	let count = 0;
	for (const _tool of lists.members()) {
		count += 1;
		if (count > most) {
			return false;
		}
	}
	return true;
}

/** Whether the view has a tool pinned. */
export function isPinned({ pinnedTools }: ToolView, { name }: Tool): boolean {
	return pinnedTools.some((pin) => (pin.endsWith("*") ? name.startsWith(pin.slice(0, -1)) : name === pin));
}
