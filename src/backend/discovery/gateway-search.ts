import type { Feature } from "../../app/application.js";
import type { Search, SearchEvents } from "../../app/backend.js";
import type { Runtime, TimerHandle } from "../../hardware/timer.js";
import { Backoff } from "../../protocols/backoff.js";
import { SEARCH_SCHEME } from "../../settings/config.js";
import { readSetting } from "../../settings/read-setting.js";
import { deepFreeze } from "../../text/deep-freeze.js";

/** A service that was found on the local network (DNS-SD, https://www.rfc-editor.org/rfc/rfc6763). */
export interface FoundService {
	/** For people. */
	readonly name: string;
	/** The hostname: "xs-mcp-workshop.local". */
	readonly host: string;
	/** Its IPv4 address. */
	readonly address: string;
	readonly port: number;
	/** Further facts, by name. */
	readonly txt?: ReadonlyMap<string, string | undefined>;
}

/** ECMA-419's DNS-SD, as far as it is used. Each search opens its own. */
export interface DnsSd {
	/** Searches for services of a type, such as `_xs-mcp._tcp`, and reports each, also when it has changed. */
	discover(options: {
		readonly serviceType: string;
		readonly onFound: (service: FoundService) => void;
		readonly onUpdate: (service: FoundService) => void;
	}): object;
	/** Ends every search. */
	close(): void;
}

/** The platform's DNS-SD: `src/platform/dns-sd`. Throws if the network cannot be used now. */
export type OpenDnsSd = () => DnsSd;

/** The service type of gateways: gateway/src/devices/announcement.ts. */
const SERVICE_TYPE = "_xs-mcp._tcp";

/** Milliseconds from a failure to open the search to the next attempt. */
const BACKOFF = deepFreeze({ minimum: 10_000, maximum: 120_000 });

/** Milliseconds without a gateway after which `onMissing` is called. */
const MISSING_AFTER = 10_000;

/** Anybody on the network can announce address and path, so they must form a valid URL. */
const addressPattern = (): RegExp => /^\d{1,3}(\.\d{1,3}){3}$/;
const pathPattern = (): RegExp => /^\/[\w\-./~%]{0,127}$/;

export interface GatewaySearchOptions extends Runtime {
	/** The hostname of the gateway, with or without `.local`. Empty: the first one that answers. */
	readonly host: string;
	readonly openDnsSd: OpenDnsSd;
	/** `onMissing` is called once per search, after 10 s without an answer. */
	readonly events: Pick<SearchEvents, "onBackend" | "onFailed" | "onMissing">;
	/** A number in [0, 1). Default `Math.random`. */
	readonly random?: () => number;
}

/**
 * Finds a gateway that announces itself on the local network. The search ends when one is found, to free its memory,
 * and starts again when that one is lost: its address may have changed.
 *
 * @internal exported for its test
 */
export class GatewaySearch implements Search {
	private readonly options: GatewaySearchOptions;
	private readonly backoff: Backoff;
	private dnsSd: DnsSd | undefined;
	private retry: TimerHandle | undefined;
	/** Set once this search has found a gateway. */
	private end: TimerHandle | undefined;
	/** Runs until a gateway is found, or its absence is told. */
	private patience: TimerHandle | undefined;
	private hasToldMissing = false;

	constructor(options: GatewaySearchOptions) {
		this.options = options;
		this.backoff = new Backoff({ ...BACKOFF, random: options.random });
	}

	/** Starts the search, unless it runs. */
	start(): void {
		if (this.dnsSd !== undefined || this.retry !== undefined) {
			return;
		}
		const found = (service: FoundService): void => this.take(service);
		try {
			this.dnsSd = this.options.openDnsSd();
			this.dnsSd.discover({ serviceType: SERVICE_TYPE, onFound: found, onUpdate: found });
			this.backoff.reset();
			this.beginPatience();
		} catch (error) {
			this.close();
			const delay = this.backoff.next();
			this.retry = this.options.timer.set(() => this.restart(), delay);
			this.options.events.onFailed(error as Error, delay);
		}
	}

	stop(): void {
		this.close();
		this.endPatience();
	}

	/** The timer survives restarts of the search: each attempt to reach a lost gateway restarts the search. */
	private beginPatience(): void {
		if (this.hasToldMissing || this.patience !== undefined) {
			return;
		}
		const { timer, host, events } = this.options;
		this.patience = timer.set(() => {
			this.patience = undefined;
			this.hasToldMissing = true;
			const wanted = host === "" ? "no gateway" : `no gateway ${JSON.stringify(host)}`;
			events.onMissing(`${wanted} found on this network for ${MISSING_AFTER / 1000} s`);
		}, MISSING_AFTER);
	}

	private endPatience(): void {
		this.options.timer.clear(this.patience);
		this.patience = undefined;
		this.hasToldMissing = false;
	}

	private close(): void {
		const { timer } = this.options;
		timer.clear(this.retry);
		timer.clear(this.end);
		this.retry = undefined;
		this.end = undefined;
		this.dnsSd?.close();
		this.dnsSd = undefined;
	}

	/** Restarts the search: the gateway that was found cannot be reached. */
	restart(): void {
		if (this.end !== undefined) {
			// Just found: the SDK is still processing the answer.
			this.endBy(() => this.restart());
			return;
		}
		this.close();
		this.start();
	}

	private endBy(callback: () => void): void {
		this.options.timer.clear(this.end);
		this.end = this.options.timer.set(() => {
			this.end = undefined;
			callback();
		}, 0);
	}

	private take(service: FoundService): void {
		const { host, name } = service;
		const wanted = bareHost(this.options.host);
		if (this.end !== undefined || (wanted !== "" && bareHost(host) !== wanted)) {
			return;
		}
		const backend = urlOf(service);
		if (backend === undefined) {
			this.options.log(`gateway ${JSON.stringify(name)} ignored: it does not announce plain WebSocket (ws)`);
			return;
		}
		// Deferred: the SDK is still processing the answer.
		this.endBy(() => this.close());
		this.endPatience();
		try {
			this.options.events.onBackend({ backend });
		} catch (error) {
			this.options.timer.clear(this.end);
			this.end = undefined;
			this.options.log(`gateway ${JSON.stringify(name)} unusable: ${String(error)}`);
		}
	}
}

/**
 * Finds gateways that announce themselves: for `mdns:` as the setting `backend`, or for a list to choose from.
 *
 * @param openDnsSd undefined where the platform has no multicast
 */
export const discoveryFeature = (openDnsSd: OpenDnsSd | undefined): Feature => ({
	name: "discovery",
	rescue: true,
	start({ backend, timer, log }) {
		if (openDnsSd === undefined) {
			return;
		}
		backend.listGateways = (onEnd) => listGateways({ openDnsSd, timer, onEnd, log });
		backend.sources.push({
			name: "gateway search",
			read(source) {
				const shown = readSetting("backend", source);
				if (!shown?.startsWith(SEARCH_SCHEME)) {
					return undefined;
				}
				const host = shown.slice(SEARCH_SCHEME.length);
				return { shown, open: (events) => new GatewaySearch({ host, openDnsSd, events, timer, log }) };
			},
		});
	},
});

/** A hostname without the domain of the local network. */
const bareHost = (host: string): string => host.toLowerCase().replace(/\.local\.?$/, "");

/**
 * Undefined if the device cannot connect there. TLS is not supported, because the certificate's name is not announced.
 */
const urlOf = ({ address, port, txt }: FoundService): string | undefined => {
	const path = txt?.get("path") ?? "/";
	const isPort = Number.isInteger(port) && port > 0 && port <= 65_535;
	return txt?.get("transport") === "ws" && isPort && addressPattern().test(address) && pathPattern().test(path)
		? `ws://${address}:${port}${path}`
		: undefined;
};

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

/** Milliseconds for gateways to answer. */
const SEARCH_TIME = 5_000;

const MAX_GATEWAYS = 10;

/** Characters of a gateway's name and host. Limited, because anybody on the network can send them. */
const MAX_TEXT_LENGTH = 64;

/**
 * Lists the gateways that announce themselves on the local network and that the device can connect to.
 *
 * @internal exported for its test
 */
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
