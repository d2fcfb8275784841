/** The name and version that the manager and the proxy tell servers, unless they are told another. */
export const MANAGER_INFO = { name: "xs-mcp-manager", version: "0.1.0" };
