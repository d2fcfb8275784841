/** The name and version that the gateway tells devices and clients. */
export const GATEWAY_INFO = { name: "xs-mcp-gateway", version: "0.1.0" };
