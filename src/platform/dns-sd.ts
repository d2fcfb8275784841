import UDP from "embedded:io/socket/udp";
import DNSSD from "embedded:network/dnssd";

/** Opens the SDK's DNS-SD. Undefined if UDP has no multicast, as in the simulator on Linux. */
export const openDnsSd: (() => DNSSD) | undefined =
	"add" in UDP.prototype ? () => new DNSSD({ socket: { io: UDP } }) : undefined;
