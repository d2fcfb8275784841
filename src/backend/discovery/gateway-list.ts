import type { Runtime } from "../../hardware/timer.js";
import type { DnsSd, FoundService, OpenDnsSd } from "./gateway-search.js";
import { bareHost, SERVICE_TYPE, urlOf } from "./gateway-search.js";

/** A gateway that a person can choose. */
export interface FoundGateway {
	/** The announced name. */
	readonly name: string;
	/** The setting that finds it again at any address: `mdns:HOST`. */
	readonly backend: string;
}

interface GatewayListOptions extends Runtime {
	readonly openDnsSd: OpenDnsSd;
	/** Called once, when the search is over. Not after `close`. */
	readonly onEnd: (gateways: readonly FoundGateway[]) => void;
}

/** {@link listGateways}, on a network. */
export type ListGateways = (options: Omit<GatewayListOptions, "openDnsSd">) => { close(): void };

/** Milliseconds for gateways to answer. */
const SEARCH_TIME = 5_000;

const MAX_GATEWAYS = 10;

/** Characters of a gateway's name and host. Limited, because anybody on the network can send them. */
const MAX_TEXT_LENGTH = 64;

/** Lists the gateways that announce themselves on the local network and that the device can connect to. */
export const listGateways = ({ openDnsSd, timer, onEnd, log }: GatewayListOptions): { close(): void } => {
	const found = new Map<string, FoundGateway>();
	const take = (service: FoundService): void => {
		const host = bareHost(service.host).slice(0, MAX_TEXT_LENGTH);
		if (found.size < MAX_GATEWAYS && urlOf(service) !== undefined) {
			found.set(host, { name: service.name.slice(0, MAX_TEXT_LENGTH), backend: `mdns:${host}` });
		}
	};
	let dnsSd: DnsSd | undefined;
	const end = timer.set(() => {
		dnsSd?.close();
		onEnd([...found.values()]);
	}, SEARCH_TIME);
	try {
		dnsSd = openDnsSd();
		dnsSd.discover({ serviceType: SERVICE_TYPE, onFound: take, onUpdate: take });
	} catch (error) {
		log(`gateway search failed: ${String(error)}`);
	}
	return {
		close() {
			timer.clear(end);
			dnsSd?.close();
		},
	};
};
