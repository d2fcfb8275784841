import { cluster } from "../cluster/plugin.js";
import { definePlugin } from "../plugin.js";
import { events } from "./plugin.js";

/** Posts events to webhooks; in a cluster, also those of gateways that are gone. */
export const webhooks = definePlugin({
	name: "webhooks",
	setup: async (gateway): Promise<void> => {
		const { WebhookStore } = await import("./webhook-store.js");
		const service = gateway.use(events);
		const joined = gateway.use(cluster);
		const gateways = joined && {
			self: { gateway: joined.status.name, incarnation: joined.incarnation },
			isPresent: (name: string, incarnation: string) => joined.isPresent(name, incarnation),
		};
		service.webhooks.open(new WebhookStore(gateway.store, gateway.key.derive("webhooks"), gateways));
		gateway.on("tick", () => service.webhooks.recheck());
		const dropped = "Events that were given up, because the endpoint of a webhook did not accept them";
		gateway.metrics.add("webhook_events_dropped_total", dropped, () => service.webhooks.dropped);
	},
});
