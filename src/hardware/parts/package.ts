// The module `xs-mcp` of a build. It names the other module absolutely: a relative path would start at `xs-mcp`.
export * from "src/hardware/parts/index";
