import type { Tool } from "@modelcontextprotocol/server";
import { z } from "zod";
import { CATALOG_MODES, type CatalogMode } from "../config/catalog-mode.js";

/** Which tools a client's list has. */
export interface ToolView {
	/**
	 * "full": every tool. "search": the catalog tools, by which a client finds and calls the others, and pinned tools.
	 * "auto": as "search" if there are more tools than `catalogLimit`, else as "full". "groups": every tool, but shared
	 * ones only once.
	 */
	readonly catalog: CatalogMode;
	/** Tools of servers that a full list may have. */
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
 * The view in the query of a client's URL: `/mcp?catalog=search&pinnedTools=kitchen__*`. Other parameters are ignored.
 *
 * @returns the problem names the parameter
 */
export function viewInUrl(url: string): { readonly view?: Partial<ToolView>; readonly problem?: string } {
	if (!url.includes("?")) {
		return { view: {} };
	}
	const query = new URLSearchParams(url.split("?")[1]);
	const { data, error } = QUERY.safeParse(Object.fromEntries(query));
	if (error !== undefined) {
		const [issue] = error.issues;
		return { problem: `${String(issue?.path[0])}: ${issue?.message}` };
	}
	return { view: Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined)) };
}

/**
 * Whether a client with this view lists every tool.
 *
 * @param hasAtMost whether there are no more tools than that
 */
export function listsAll({ catalog, catalogLimit }: ToolView, hasAtMost: (most: number) => boolean): boolean {
	return catalog === "full" || (catalog === "auto" && hasAtMost(catalogLimit));
}

/** Whether the view has a tool pinned. */
export function isPinned({ pinnedTools }: ToolView, { name }: Tool): boolean {
	return pinnedTools.some((pin) => (pin.endsWith("*") ? name.startsWith(pin.slice(0, -1)) : name === pin));
}
