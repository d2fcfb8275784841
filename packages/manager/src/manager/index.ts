export { McpError, type McpErrorCode } from "../core/errors.js";
export { type ConfigProblem, problemText, readServer, validateServersFile } from "../upstreams/configured-servers.js";
export type { McpAuthProvider, ServerInput, ServerOptions } from "../upstreams/server-config.js";
export { signIn } from "../upstreams/sign-in.js";
export { SignIns } from "../upstreams/sign-ins.js";
export { MANAGEMENT_TOOLS, type ManagementCaller, type ManagementTool } from "./management-tools.js";
export { McpManager } from "./mcp-manager.js";
export {
	type ApprovalRequest,
	type Approve,
	type CallRequest,
	type Elicit,
	type ElicitRequest,
	type LocalTool,
	type McpConnection,
	type McpManagerOptions,
	type McpTool,
	type McpToolResult,
	NOTIFICATION_TYPES,
	type RegisteredServer,
	type Reloaded,
} from "./mcp-types.js";
export { declarationsOf } from "./typed-tools.js";
