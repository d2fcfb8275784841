import { cluster } from "../cluster/plugin.js";
import { definePlugin } from "../plugin.js";
import { events } from "./plugin.js";
import type { Webhooks } from "./webhooks.js";

/** Posts events to webhooks; in a cluster, also those of gateways that are gone. */
export const webhooks = definePlugin({
	name: "webhooks",
	setup: async (gateway): Promise<Webhooks> => {
		const [{ makeWebhookStore }, { makeWebhooks }] = await Promise.all([
			import("./webhook-store.js"),
			import("./webhooks.js"),
		]);
		const joined = gateway.use(cluster);
		const gateways = joined && {
			self: { gateway: joined.status.name, incarnation: joined.incarnation },
			isPresent: (name: string, incarnation: string) => joined.isPresent(name, incarnation),
		};
		const store = makeWebhookStore(gateway.store, gateway.key.derive("webhooks"), gateways);
		const webhooks = makeWebhooks(gateway, gateway.use(events), store);
		gateway.on("tick", webhooks.recheck);
		gateway.on("close", webhooks.close);
		const dropped = "Events that were given up, because the endpoint of a webhook did not accept them";
		gateway.metrics.add("webhook_events_dropped_total", dropped, () => webhooks.dropped);
		return webhooks;
	},
});
