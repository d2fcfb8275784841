// The manager, for programs that have installed the gateway: `xs-mcp-gateway/manager`.
export * from "xs-mcp-manager";
