export type { McpErrorCode } from "../core/errors.js";
export type { McpAuthProvider } from "../upstreams/auth/auth-config.js";
export { SignIns } from "../upstreams/auth/sign-ins.js";
export type { ServerInput, ServerOptions } from "../upstreams/server-config.js";
export { type ConfigProblem, problemText, readServer, validateServersFile } from "../upstreams/servers-file.js";
export { type SignInOptions, signIn } from "../upstreams/sign-in.js";
export { MANAGEMENT_TOOLS, type ManagementCaller, type ManagementTool } from "./management-tools.js";
export { McpError, type McpToolResult } from "./mcp-error.js";
export { McpManager } from "./mcp-manager.js";
export type {
	ApprovalRequest,
	Approve,
	CallRequest,
	Elicit,
	ElicitRequest,
	LocalTool,
	McpConnection,
	McpManagerOptions,
	McpTool,
	RegisteredServer,
	Reloaded,
} from "./mcp-types.js";
export { NOTIFICATION_TYPES, type NotificationFilter } from "./notifications.js";
export { declarationsOf } from "./typed-tools.js";
