import type { Runtime, TimerHandle } from "../../hardware/timer.js";
import { Backoff } from "../../protocols/backoff.js";
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
export const SERVICE_TYPE = "_xs-mcp._tcp";

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
	/** Called with a gateway, and whenever it is found again. Throws if it cannot be used. */
	readonly onBackend: (backend: { readonly backend: string }) => void;
	/** The search cannot be opened. The next attempt follows in `retryIn` milliseconds. */
	readonly onFailed: (error: Error, retryIn: number) => void;
	/** No gateway has answered for 10 s. The search goes on; this is called once per search. */
	readonly onMissing: (message: string) => void;
	/** A number in [0, 1). Default `Math.random`. */
	readonly random?: () => number;
}

/**
 * Finds a gateway that announces itself on the local network. The search ends when one is found, to free its memory,
 * and starts again when that one is lost: its address may have changed.
 */
export class GatewaySearch {
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
			this.options.onFailed(error as Error, delay);
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
		const { timer, host, onMissing } = this.options;
		this.patience = timer.set(() => {
			this.patience = undefined;
			this.hasToldMissing = true;
			const wanted = host === "" ? "no gateway" : `no gateway ${JSON.stringify(host)}`;
			onMissing(`${wanted} found on this network for ${MISSING_AFTER / 1000} s`);
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
			// It has just been found: the SDK is still processing what it received.
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
		// Not now: the SDK is still processing what it received.
		this.endBy(() => this.close());
		this.endPatience();
		try {
			this.options.onBackend({ backend });
		} catch (error) {
			this.options.timer.clear(this.end);
			this.end = undefined;
			this.options.log(`gateway ${JSON.stringify(name)} unusable: ${String(error)}`);
		}
	}
}

/** A hostname without the domain of the local network. */
export const bareHost = (host: string): string => host.toLowerCase().replace(/\.local\.?$/, "");

/**
 * Undefined if the device cannot connect there. TLS is not supported, because the certificate's name is not announced.
 */
export const urlOf = ({ address, port, txt }: FoundService): string | undefined => {
	const path = txt?.get("path") ?? "/";
	const isPort = Number.isInteger(port) && port > 0 && port <= 65_535;
	return txt?.get("transport") === "ws" && isPort && addressPattern().test(address) && pathPattern().test(path)
		? `ws://${address}:${port}${path}`
		: undefined;
};
