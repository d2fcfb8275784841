import type { TextResourceContents, Tool } from "@modelcontextprotocol/server";
import type { Server } from "xs-mcp-manager/core";
import type { Catalog } from "./catalog.js";

/** The extension MCP Apps, as clients and servers declare it, and its kind of page. */
export const APPS_EXTENSION = "io.modelcontextprotocol/ui";
export const APP_MIME_TYPE = "text/html;profile=mcp-app";

/** The tools beside whose results the panel is shown, by the device's own names of them. */
const SHOWN_BESIDE = /(^|[._])(get_device_status|take_photo|snapshot)$/;

/** Tools that one panel may call. */
const MAX_TOOLS = 48;

/** The place of the device's data in the page. */
const DATA = /(<script type="application\/json" id="device">)[^<]*/;

/** Lists with links to panels, by the lists that they are made from. */
const linked = new WeakMap<readonly Tool[], readonly Tool[]>();

function panelUri({ alias }: Server): string {
	return `ui://${alias}/device`;
}

/** A list of tools in which status and photo tools of devices name the panel of theirs. Pages that tools have stay. */
export function withPanels(catalog: Catalog, tools: readonly Tool[]): readonly Tool[] {
	const withPanel = (tool: Tool): Tool => {
		const server = isShownBeside(catalog, tool.name) ? catalog.findTool(tool.name)?.server : undefined;
		return server === undefined || tool._meta?.ui !== undefined
			? tool
			: { ...tool, _meta: { ...tool._meta, ui: { resourceUri: panelUri(server) } } };
	};
	const found = linked.get(tools) ?? tools.map(withPanel);
	linked.set(tools, found);
	return found;
}

/** Whether a client shows pages beside results. */
export function showsPanels(capabilities: { readonly extensions?: unknown } | undefined): boolean {
	const { [APPS_EXTENSION]: apps } = (capabilities?.extensions ?? {}) as Record<string, { mimeTypes?: unknown }>;
	return Array.isArray(apps?.mimeTypes) && apps.mimeTypes.includes(APP_MIME_TYPE);
}

/**
 * A device's panel: the page with the device's name and tools, as this catalog names them. Undefined for other URIs.
 *
 * @param page its text in the bundle
 */
export function readPanel(catalog: Catalog, page: string, uri: string): TextResourceContents | undefined {
	const server = catalog.servers.find((each) => !each.configured && panelUri(each) === uri);
	if (server === undefined) {
		return undefined;
	}
	const own = catalog.lists.tools().filter(({ name }) => catalog.findTool(name)?.server === server);
	// What one tap may call. The page chooses the tools that fit.
	const isHarmless = ({ annotations }: Tool): boolean =>
		annotations?.destructiveHint === false && annotations.readOnlyHint !== true;
	const shown = own.filter((tool) => isShownBeside(catalog, tool.name) || isHarmless(tool));
	const tools = shown
		.slice(0, MAX_TOOLS)
		.map(({ name, title, inputSchema, annotations }) => ({ name, title, inputSchema, annotations }));
	// In a script's element, only "<" could end it.
	const data = JSON.stringify({ alias: server.alias, title: server.title, tools }).replaceAll("<", "\\u003c");
	const text = page.replace(DATA, (_, begin: string) => begin + data);
	return { uri, mimeType: APP_MIME_TYPE, text, _meta: { ui: { prefersBorder: true } } };
}

function isShownBeside(catalog: Catalog, name: string): boolean {
	const { server, tool } = catalog.findTool(name) ?? {};
	return server?.configured === false && SHOWN_BESIDE.test(tool?.name ?? "");
}
