#!/usr/bin/env node
// The program in this repository: its sources, bundled when they have changed. scripts/pack.mjs makes the package's.
import { cachedBundle } from "../../toolchain/bundle.mjs";

const { runCommandLine } = await import(await cachedBundle("mcp-manager"));
await runCommandLine(process.argv.slice(2));
