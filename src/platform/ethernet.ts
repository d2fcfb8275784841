import Ethernet from "embedded:network/interface/ethernet";
import { EthernetNetwork } from "../drivers/ethernet-network.js";
import { hostnameOf } from "../text/hostname.js";

/** The board's Ethernet, with DHCP. */
export function openEthernet(): EthernetNetwork {
	return new EthernetNetwork({
		ethernet: { io: Ethernet },
		hostname: hostnameOf,
		log: (message) => trace(`${message}\n`),
	});
}
