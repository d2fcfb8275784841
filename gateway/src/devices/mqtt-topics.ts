/** Where a device's messages go, unless its settings say otherwise. */
export function upTopic(clientId: string): string {
	return `xs-mcp/${clientId}/up`;
}

/** Where the gateway's messages to a device go. */
export function downTopic(clientId: string): string {
	return `xs-mcp/${clientId}/down`;
}

/** Every device's {@link upTopic}, as a subscription. */
export const ALL_UP_TOPICS = "xs-mcp/+/up";

/** What of a broker's topics belongs to devices: nothing else may be published below it. */
export const TOPIC_ROOT = "xs-mcp/";

/** The client id in an {@link upTopic}. */
export function clientIdOf(topic: string): string | undefined {
	return /^xs-mcp\/([^/]+)\/up$/.exec(topic)?.[1];
}
