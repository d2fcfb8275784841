import type { Access } from "../config/access.js";
import type { Scope } from "./server-lists.js";
import type { ToolView } from "./tool-view.js";

/** The key of a scope: clients with the same one share lists. */
export function scopeKey({ server, devices, userTools, readOnly }: Scope): string {
	const list = (ids: ReadonlySet<string>): string[] => [...ids].sort();
	const tools = typeof userTools === "boolean" ? userTools : list(userTools);
	return JSON.stringify([server ?? null, devices ? list(devices) : null, tools, readOnly]);
}

/** The key of a catalog: clients with the same access and view, on the same path, share one. */
export function catalogKey(
	scope: string,
	{ principal, isForeignPage = false }: Access,
	{ catalog, catalogLimit, pinnedTools, panels }: ToolView,
): string {
	return JSON.stringify([principal, scope, isForeignPage, catalog, catalogLimit, pinnedTools, panels]);
}
