import type { McpEndpoint } from "../clients/http-endpoint.js";
import type { Page } from "./app.js";
import { makeForgetPage, makeOperatorPages, type OperatorPagesOptions } from "./operator-routes.js";

/** Finds a page by its path: `/mcp` for all devices, `/mcp/DEVICE` for one, and the operator's. */
export function makePages(endpoint: McpEndpoint, options: OperatorPagesOptions): (path: string) => Page | undefined {
	const operatorPages = makeOperatorPages(options);
	const mcp = (device: string | undefined): Page => ({
		methods: ["GET", "POST", "DELETE"],
		serve: (request, response, access, body) => endpoint.handle(request, response, access, device, body),
	});
	const all = mcp(undefined);
	return (path) => {
		const [, folder, name] = /^\/(mcp|devices)\/([^/]+)$/.exec(path) ?? [];
		const device = name === undefined ? undefined : decode(name);
		if (device === undefined) {
			return path === "/mcp" ? all : operatorPages.get(path);
		}
		return folder === "mcp" ? mcp(device) : makeForgetPage(options.devices, device);
	};
}

/** Undefined for what is no URL encoding. */
function decode(text: string): string | undefined {
	try {
		return decodeURIComponent(text);
	} catch {
		return undefined;
	}
}
