#!/usr/bin/env node
// The program in this repository: its sources, bundled when they have changed.
import { cachedBundle } from "xs-mcp/bundle";

await import(new URL("cli.js", await cachedBundle("packages/gateway")).href);
