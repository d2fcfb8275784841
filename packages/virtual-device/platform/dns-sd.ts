import type { FoundService, OpenDnsSd } from "src/features/discovery/gateway-search";
import { boot, receive, send } from "./bridge.js";

/** Callbacks of the searches in progress. */
const searches = new Map<number, (found: FoundService) => void>();
let lastId = 0;

receive("dnssd.found", ([id, service, txt]) => {
	const found = { ...(service as Omit<FoundService, "txt">), txt: new Map(txt as [string, string][]) };
	searches.get(id as number)?.(found);
});

receive("dnssd.failed", ([, message]) => trace(`DNS-SD: ${message}\n`));

/** Stands in for ECMA-419's DNS-SD (`embedded:network/dnssd`): Node searches. */
export const openDnsSd: OpenDnsSd = () => {
	const ids: number[] = [];
	return {
		discover(options) {
			lastId += 1;
			ids.push(lastId);
			searches.set(lastId, options.onFound);
			send(["dnssd.open", lastId, options.serviceType, String(boot.config.mdnsInterface ?? "")]);
			return options;
		},
		close() {
			for (const id of ids.splice(0)) {
				searches.delete(id);
				send(["dnssd.close", id]);
			}
		},
	};
};
