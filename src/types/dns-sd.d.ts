import type { OpenDnsSd } from "../features/discovery/gateway-search.js";

/** Opens the host's DNS-SD. Undefined where UDP has no multicast. */
export const openDnsSd: OpenDnsSd | undefined;
