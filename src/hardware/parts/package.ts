// The module `xs-mcp` of a build, by the name of another module: a relative one would be looked for beside `xs-mcp`.
export * from "src/hardware/parts/index";
