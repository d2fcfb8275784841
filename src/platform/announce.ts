import type DNSSD from "embedded:network/dnssd";
import type { Announcement, HttpServerPlatform } from "../protocols/http-server.js";
import { openDnsSd } from "./dns-sd.js";

const announceBy =
	(open: () => DNSSD) =>
	({ host, txt, ...service }: Announcement, log: (message: string) => void): { close(): void } => {
		const dnssd = open();
		dnssd.claim({
			host,
			onReady: () => {
				// The SDK's serializer expects an array with named members.
				const options = { ...service, host, txt: Object.assign([], txt) };
				dnssd.advertise(options as unknown as Parameters<typeof dnssd.advertise>[0]);
			},
			onError: () => log(`${host}.local: name already taken by another device`),
		});
		return dnssd;
	};

/** Announces a server by the SDK's DNS-SD. Undefined if UDP has no multicast, as in the simulator on Linux. */
const announce: HttpServerPlatform["announce"] = openDnsSd && announceBy(openDnsSd);
export default announce;
