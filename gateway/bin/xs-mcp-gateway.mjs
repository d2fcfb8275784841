#!/usr/bin/env node
// The program in this repository: its sources, bundled when they have changed. pack.mjs makes the package's.
import { cachedBundle } from "../bundle.mjs";

const { runCommandLine } = await import(await cachedBundle());
await runCommandLine(process.argv.slice(2));
