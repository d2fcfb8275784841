export type { McpErrorCode } from "../configured/error-codes.js";
export type { ServerInput, ServerOptions } from "../configured/server-config.js";
export { MANAGEMENT_TOOLS, type ManagementCaller, type ManagementTool } from "./management-tools.js";
export { McpError, type McpToolResult } from "./mcp-error.js";
export {
	type ApprovalRequest,
	type Approve,
	type CallRequest,
	type McpConnection,
	McpManager,
	type McpManagerOptions,
	type McpTool,
	type RegisteredServer,
} from "./mcp-manager.js";
export { NOTIFICATION_TYPES, type NotificationFilter } from "./notifications.js";
