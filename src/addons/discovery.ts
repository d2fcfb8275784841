import { openDnsSd } from "src/platform/dns-sd";
import type { Addons } from "../app/addons.js";
import { listGateways } from "../connect/gateway-list.js";
import { GatewaySearch } from "../connect/gateway-search.js";

const discovery: Addons["discovery"] | undefined = openDnsSd && {
	search: (options) => new GatewaySearch({ ...options, openDnsSd }),
	list: (options) => listGateways({ ...options, openDnsSd }),
};
export default discovery;
