import { openDnsSd } from "src/platform/dns-sd";
import { discoveryFeature } from "./gateway-search.js";

/** Finds gateways that announce themselves. */
export default discoveryFeature(openDnsSd);
