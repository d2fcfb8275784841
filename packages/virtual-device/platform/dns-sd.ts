import type { FoundService, OpenDnsSd } from "src/features/discovery/gateway-search";
import { boot, forget, register, send } from "./bridge.js";

/** Stands in for ECMA-419's DNS-SD (`embedded:network/dnssd`): Node searches. */
export const openDnsSd: OpenDnsSd = () => {
	const ids: number[] = [];
	return {
		discover(options) {
			const id = register({
				found(service: Omit<FoundService, "txt">, txt: [string, string][]) {
					options.onFound({ ...service, txt: new Map(txt) });
				},
				failed: (message: string) => trace(`DNS-SD: ${message}\n`),
			});
			ids.push(id);
			send(["dnssd.open", id, options.serviceType, String(boot.config.mdnsInterface ?? "")]);
			return options;
		},
		close() {
			for (const id of ids.splice(0)) {
				forget(id);
				send(["dnssd.close", id]);
			}
		},
	};
};
