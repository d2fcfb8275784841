import type { Access } from "./access.js";
import type { ToolView } from "./tool-view.js";

/** The key of a catalog: clients with the same access and view, on the same path, share one. */
export function catalogKey(
	{ principal, devices, userTools, readOnly = false, isForeignPage = false }: Access,
	server: string | undefined,
	{ catalog, catalogLimit, pinnedTools, panels }: ToolView,
): string {
	const list = (ids: ReadonlySet<string>): string[] => [...ids].sort();
	const tools = typeof userTools === "boolean" ? userTools : list(userTools);
	return JSON.stringify([
		principal,
		server ?? null,
		devices ? list(devices) : null,
		tools,
		readOnly,
		isForeignPage,
		catalog,
		catalogLimit,
		pinnedTools,
		panels,
	]);
}
