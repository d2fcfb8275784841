import { McpServer, type Server as SdkServer } from "@modelcontextprotocol/server";
import { GATEWAY_INFO } from "../version.js";
import type { Catalog } from "./catalog.js";

/**
 * Lets the SDK's HTTP handler check `Mcp-Param-*` headers (2026-07-28, "Custom Headers from Tool Parameters"). It does so
 * only for a McpServer, which it asks for the tool's schema; calls go to the given server.
 */
export class HeaderCheckedServer extends McpServer {
	override readonly server: SdkServer;
	readonly #catalog: Catalog;

	constructor(server: SdkServer, catalog: Catalog) {
		super(GATEWAY_INFO);
		this.server = server;
		this.#catalog = catalog;
	}

	/** The schema that may declare headers; undefined for a tool that is unknown: the call says so. */
	override toolInputSchemaJson(name: string): Record<string, unknown> | undefined {
		try {
			return this.#catalog.findTool(name).tool.inputSchema;
		} catch {
			return undefined;
		}
	}
}
