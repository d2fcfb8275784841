import { openDnsSd } from "src/platform/dns-sd";
import { type ListGateways, listGateways } from "./gateway-list.js";
import { GatewaySearch, type GatewaySearchOptions } from "./gateway-search.js";

interface Discovery {
	search(options: Omit<GatewaySearchOptions, "openDnsSd">): GatewaySearch;
	readonly list: ListGateways;
}

/**
 * Finds gateways that announce themselves: for `mdns:` as the setting `backend`, or for a list to choose from. Undefined
 * where the platform has no DNS-SD.
 */
const discovery: Discovery | undefined = openDnsSd && {
	search: (options) => new GatewaySearch({ ...options, openDnsSd }),
	list: (options) => listGateways({ ...options, openDnsSd }),
};
export default discovery;
