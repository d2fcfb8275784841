/** The default name and version that the manager and the proxy send to servers. */
export const MANAGER_INFO = { name: "xs-mcp-manager", version: "0.1.0" };
