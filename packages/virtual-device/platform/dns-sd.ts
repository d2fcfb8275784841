import type { FoundService, OpenDnsSd } from "../../../src/features/discovery/gateway-search.js";
import { boot, receive, send } from "./bridge.js";

type DiscoverOptions = Parameters<ReturnType<OpenDnsSd>["discover"]>[0];

const searches = new Map<number, DiscoverOptions>();
let lastId = 0;

/** Stands in for ECMA-419's DNS-SD (`embedded:network/dnssd`): Node searches. */
class DnsSd {
	readonly #ids: number[] = [];

	discover(options: DiscoverOptions): object {
		lastId += 1;
		this.#ids.push(lastId);
		searches.set(lastId, options);
		send(["dnssd.open", lastId, options.serviceType, String(boot.config.mdnsInterface ?? "")]);
		return options;
	}

	close(): void {
		for (const id of this.#ids.splice(0)) {
			searches.delete(id);
			send(["dnssd.close", id]);
		}
	}
}

receive("dnssd.found", ([id, service, txt]) => {
	const found = { ...(service as Omit<FoundService, "txt">), txt: new Map(txt as [string, string][]) };
	searches.get(id as number)?.onFound(found);
});

receive("dnssd.failed", ([, message]) => trace(`DNS-SD: ${message}\n`));

export const openDnsSd: OpenDnsSd = () => new DnsSd();
