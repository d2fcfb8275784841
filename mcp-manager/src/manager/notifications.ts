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
] as const;

/** The type of a notification. Log messages of a server have the type "logging/setLevel". */
export function notificationType(method: string): string {
	const type = method.replace(/^notifications\//, "");
	return type === "message" ? "logging/setLevel" : type;
}
