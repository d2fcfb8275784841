import type { Client } from "@modelcontextprotocol/client";
import type { ERAS } from "./gateway.js";

interface Update {
	readonly uri: string;
}

/** Subscribes a client to resources as clients of its revision do. */
export async function subscribe(client: Client, era: keyof typeof ERAS, ...uris: readonly string[]) {
	const updates: Update[] = [];
	client.setNotificationHandler("notifications/resources/updated", ({ params }) => void updates.push(params));
	if (era === "2026-07-28") {
		const subscription = await client.listen({ resourceSubscriptions: [...uris] });
		return { updates, end: async () => await subscription.close() };
	}
	for (const uri of uris) {
		await client.subscribeResource({ uri });
	}
	return {
		updates,
		end: async () => void (await Promise.all(uris.map((uri) => client.unsubscribeResource({ uri })))),
	};
}
