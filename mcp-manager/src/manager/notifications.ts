/** Which notifications are wanted. */
export interface NotificationFilter {
	/** The id of a configured server, or the alias of a device. Undefined: all. */
	readonly server?: string | undefined;
	/** Undefined: all. */
	readonly types?: readonly string[] | undefined;
}

/** The types of document 1, "notification types". */
export const NOTIFICATION_TYPES = [
	"tools/list_changed",
	"resources/list_changed",
	"prompts/list_changed",
	"logging/setLevel",
	"progress",
	"cancelled",
] as const;

/** The documented type of a notification; log messages of a server have the type "logging/setLevel" there. */
export function notificationType(method: string): string {
	const type = method.replace(/^notifications\//, "");
	return type === "message" ? "logging/setLevel" : type;
}
