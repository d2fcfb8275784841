import type { FoundGateway, Search, SearchEvents } from "../../core/backend.js";
import { SEARCH_SCHEME } from "../../core/config.js";
import type { Feature } from "../../core/listener.js";
import { readSetting } from "../../core/read-setting.js";
import type { Runtime, TimerHandle } from "../../hardware/hardware.js";
import { Backoff } from "../../protocols/backoff.js";

/** A service that was found on the local network (DNS-SD, https://www.rfc-editor.org/rfc/rfc6763). */
export interface FoundService {
	/** Name that people see. */
	readonly name: string;
	/** The hostname: "xs-mcp-workshop.local". */
	readonly host: string;
	/** Its IPv4 address. */
	readonly address: string;
	readonly port: number;
	/** The TXT record, by key. */
	readonly txt?: ReadonlyMap<string, string | undefined>;
}

/** ECMA-419's DNS-SD. Each search opens its own. */
export interface DnsSd {
	/** Searches for services of a type, such as `_xs-mcp._tcp`, and reports each one and its changes. */
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

/** The service type of gateways: packages/gateway/src/devices/announcement.ts. */
const SERVICE_TYPE = "_xs-mcp._tcp";

/** Milliseconds from a failure to open the search to the next attempt. */
const BACKOFF = Object.freeze({ minimum: 10_000, maximum: 120_000 });

/** Milliseconds without a gateway after which `onMissing` is called. */
const MISSING_AFTER = 10_000;

/**
 * Finds a gateway that announces itself on the local network. The search ends when one is found, to free its memory,
 * and starts again when that gateway is lost: its address may have changed.
 *
 * @internal exported for its test
 */
export class GatewaySearch implements Search {
	private readonly runtime: Runtime;
	private readonly openDnsSd: OpenDnsSd;
	private readonly host: string;
	private readonly events: Pick<SearchEvents, "onBackend" | "onFailed" | "onMissing">;
	private readonly backoff: Backoff;
	private dnsSd: DnsSd | undefined;
	/** Restarts the search after a failure, or ends it when a gateway was found. */
	private timer: TimerHandle | undefined;
	/** Timer of `onMissing`. Kept until a gateway is found, so that this is reported once. */
	private patience: TimerHandle | undefined;

	/**
	 * @param host the hostname of the gateway, with or without `.local`; empty: the first one that answers
	 * @param events `onMissing` is called once per search, after 10 s without an answer
	 * @param random a number in [0, 1)
	 */
	constructor(
		runtime: Runtime,
		openDnsSd: OpenDnsSd,
		host: string,
		events: GatewaySearch["events"],
		random?: () => number,
	) {
		this.runtime = runtime;
		this.openDnsSd = openDnsSd;
		this.host = host;
		this.events = events;
		this.backoff = new Backoff({ ...BACKOFF, random });
	}

	/** Starts the search, unless it runs. */
	start(): void {
		if (this.dnsSd !== undefined || this.timer !== undefined) {
			return;
		}
		const found = (service: FoundService): void => this.take(service);
		try {
			this.dnsSd = this.openDnsSd();
			this.dnsSd.discover({ serviceType: SERVICE_TYPE, onFound: found, onUpdate: found });
			this.backoff.reset();
			const { host, events } = this;
			// The timer survives restarts of the search: each attempt to reach a lost gateway restarts the search.
			this.patience ??= this.runtime.timer.set(() => {
				const wanted = host === "" ? "no gateway" : `no gateway ${JSON.stringify(host)}`;
				events.onMissing(`${wanted} found on this network for ${MISSING_AFTER / 1000} s`);
			}, MISSING_AFTER);
		} catch (error) {
			this.close();
			const delay = this.backoff.next();
			this.plan(() => this.restart(), delay);
			this.events.onFailed(error as Error, delay);
		}
	}

	stop(): void {
		this.close();
		this.endPatience();
	}

	private endPatience(): void {
		this.runtime.timer.clear(this.patience);
		this.patience = undefined;
	}

	private close(): void {
		this.runtime.timer.clear(this.timer);
		this.timer = undefined;
		this.dnsSd?.close();
		this.dnsSd = undefined;
	}

	/** Restarts the search: the gateway that was found cannot be reached. */
	restart(): void {
		if (this.hasFound) {
			// The SDK is still processing the answer.
			this.plan(() => this.restart(), 0);
			return;
		}
		this.close();
		this.start();
	}

	/** Whether this search has just found a gateway, and is about to end. */
	private get hasFound(): boolean {
		return this.dnsSd !== undefined && this.timer !== undefined;
	}

	private plan(callback: () => void, delay: number): void {
		this.runtime.timer.clear(this.timer);
		this.timer = this.runtime.timer.set(() => {
			this.timer = undefined;
			callback();
		}, delay);
	}

	private take(service: FoundService): void {
		const { host, name } = service;
		const wanted = bareHost(this.host);
		const { timer, log } = this.runtime;
		if (this.hasFound || (wanted !== "" && bareHost(host) !== wanted)) {
			return;
		}
		const backend = urlOf(service);
		if (backend === undefined) {
			log(`gateway ${JSON.stringify(name)} ignored: it does not announce plain WebSocket (ws)`);
			return;
		}
		// Deferred: the SDK is still processing the answer.
		this.plan(() => this.close(), 0);
		this.endPatience();
		try {
			this.events.onBackend({ backend });
		} catch (error) {
			timer.clear(this.timer);
			this.timer = undefined;
			log(`gateway ${JSON.stringify(name)} unusable: ${String(error)}`);
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
	start(app) {
		if (openDnsSd === undefined) {
			return;
		}
		app.backend.listGateways = () => listGateways(app, openDnsSd);
		app.backend.sources.push((settings) => {
			const label = readSetting("backend", settings);
			if (!label?.startsWith(SEARCH_SCHEME)) {
				return undefined;
			}
			const host = label.slice(SEARCH_SCHEME.length);
			return { name: "gateway search", label, open: (events) => new GatewaySearch(app, openDnsSd, host, events) };
		});
	},
});

/** A hostname without the domain of the local network. */
const bareHost = (host: string): string => host.toLowerCase().replace(/\.local\.?$/, "");

/**
 * Undefined if the device cannot connect. Not TLS: the certificate's name is not announced. Anybody on the network
 * can announce address and path, so they must form a valid URL.
 */
const urlOf = ({ address, port, txt }: FoundService): string | undefined => {
	const path = txt?.get("path") ?? "/";
	const isPort = Number.isInteger(port) && port > 0 && port <= 65_535;
	const isValid = isPort && /^\d{1,3}(\.\d{1,3}){3}$/.test(address) && /^\/[\w\-./~%]{0,127}$/.test(path);
	return isValid && txt?.get("transport") === "ws" ? `ws://${address}:${port}${path}` : undefined;
};

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
export const listGateways = async ({ timer, log }: Runtime, openDnsSd: OpenDnsSd): Promise<readonly FoundGateway[]> => {
	const found = new Map<string, FoundGateway>();
	const take = (service: FoundService): void => {
		const host = bareHost(service.host).slice(0, MAX_TEXT_LENGTH);
		if (found.size < MAX_GATEWAYS && urlOf(service) !== undefined) {
			found.set(host, { name: service.name.slice(0, MAX_TEXT_LENGTH), backend: `mdns:${host}` });
		}
	};
	let dnsSd: DnsSd | undefined;
	try {
		dnsSd = openDnsSd();
		dnsSd.discover({ serviceType: SERVICE_TYPE, onFound: take, onUpdate: take });
	} catch (error) {
		log(`gateway search failed: ${String(error)}`);
	}
	await new Promise<void>((resolve) => timer.set(resolve, SEARCH_TIME));
	dnsSd?.close();
	return [...found.values()];
};
