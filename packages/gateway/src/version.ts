import { FIRMWARE } from "xs-mcp-firmware/core/firmware";

/** The name and version that the gateway tells devices and clients. The whole project has one version: CONTRIBUTING.md. */
export const GATEWAY_INFO = { name: "xs-mcp-gateway", version: FIRMWARE.version };

/** Its name for people (MCP, since 2025-06-18). */
export const GATEWAY_TITLE = "xs-mcp gateway";

/** Its description, in at most 100 characters. package.json says the same, and thus server.json of the MCP registry. */
export const GATEWAY_DESCRIPTION = "Makes devices that run xs-mcp standard MCP servers: over stdio and Streamable HTTP";
