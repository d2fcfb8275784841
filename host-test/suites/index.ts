import type { Suite } from "../harness.js";
import jsonRpc from "./json-rpc.suite.js";
import mcp from "./mcp.suite.js";

export const SUITES: readonly Suite[] = [jsonRpc, mcp];
