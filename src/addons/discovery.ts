import { openDnsSd } from "src/platform/dns-sd";
import type { Addons } from "../app/addons.js";
import { GatewaySearch } from "../connect/gateway-search.js";

const discovery: Addons["discovery"] | undefined =
	openDnsSd && ((options) => new GatewaySearch({ ...options, openDnsSd }));
export default discovery;
