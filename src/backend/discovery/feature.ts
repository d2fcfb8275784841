import { openDnsSd } from "src/platform/dns-sd";
import { deepFreeze } from "../../text/deep-freeze.js";
import { type ListGateways, listGateways } from "./gateway-list.js";
import { GatewaySearch, type GatewaySearchOptions, type OpenDnsSd } from "./gateway-search.js";

interface Discovery {
	search(options: Omit<GatewaySearchOptions, "openDnsSd">): GatewaySearch;
	readonly list: ListGateways;
}

/** Undefined where the platform has no multicast. An imported constant would not be narrowed inside functions. */
const open: OpenDnsSd | undefined = openDnsSd;

/**
 * Finds gateways that announce themselves: for `mdns:` as the setting `backend`, or for a list to choose from. Undefined
 * where the platform has no DNS-SD.
 */
const discovery: Discovery | undefined =
	open &&
	deepFreeze({
		search: (options) => new GatewaySearch({ ...options, openDnsSd: open }),
		list: (options) => listGateways({ ...options, openDnsSd: open }),
	});
export default discovery;
