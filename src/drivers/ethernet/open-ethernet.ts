import Ethernet from "embedded:network/interface/ethernet";
import { hostnameOf } from "../../text/hostname.js";
import { EthernetNetwork } from "./ethernet-network.js";

/** The board's Ethernet, with DHCP. */
export function openEthernet(): EthernetNetwork {
	return new EthernetNetwork({
		ethernet: { io: Ethernet },
		hostname: hostnameOf,
		log: (message) => trace(`${message}\n`),
	});
}
