import { McpError } from "./mcp-error.js";

/** Which notifications are wanted. */
export interface NotificationFilter {
	/** The id of a configured server, or the alias of a device. Undefined: all. */
	readonly server?: string | undefined;
	/** Undefined: all. */
	readonly types?: readonly string[] | undefined;
}

/** The types of notifications that handlers can filter by. */
export const NOTIFICATION_TYPES = [
	"tools/list_changed",
	"resources/list_changed",
	"prompts/list_changed",
	"logging/setLevel",
	"progress",
	"cancelled",
	// Types that the documentation omits, and those of devices.
	"resources/updated",
	"state_changed",
	"button_pressed",
	"sensor_changed",
	"switch_changed",
	"line_received",
	"timer_due",
	"said",
] as const;

/** @throws McpError that names a type that no notification has */
export function expectKnownTypes(types: readonly string[] = []): void {
	const unknown = types.find((type) => !(NOTIFICATION_TYPES as readonly string[]).includes(type));
	if (unknown !== undefined) {
		const known = NOTIFICATION_TYPES.join(", ");
		throw new McpError("INVALID_PARAMS", `unknown notification type '${unknown}': expected one of ${known}`);
	}
}

/** The type of a notification. Log messages of a server have the type "logging/setLevel". */
export function notificationType(method: string): string {
	const type = method.replace(/^notifications\//, "");
	return type === "message" ? "logging/setLevel" : type;
}
