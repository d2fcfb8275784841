/** The name and version that the gateway tells devices and clients. */
export const GATEWAY_INFO = { name: "xs-mcp-gateway", version: "0.1.0" };

/** Its name for people (MCP, since 2025-06-18). */
export const GATEWAY_TITLE = "xs-mcp gateway";
