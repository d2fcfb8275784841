#!/usr/bin/env node
import { Command } from "commander";
import { MANAGER_INFO } from "../version.js";
import { addProxyOptions } from "./index.js";

// Exit codes: 0 ok, 1 failed, 2 wrong usage.
const program = new Command("xs-mcp-proxy")
	.version(MANAGER_INFO.version, "-V, --version", "Show the version")
	.helpOption("-h, --help", "Show help");
await addProxyOptions(program).parseAsync();
