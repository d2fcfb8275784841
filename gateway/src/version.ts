/** What the gateway calls itself, towards devices and towards hosts. */
export const GATEWAY_INFO = { name: "xs-mcp-gateway", version: "0.1.0" };
