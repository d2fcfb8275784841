import { stat } from "node:fs/promises";
import type { LookupFunction } from "node:net";
import { Hono } from "hono";
import type { ServerIdentity } from "xs-mcp-manager/core";
import { deviceIdOf } from "./config/access.js";
import { type ListedSettings, listSettings, tokenProblems } from "./config/configuration.js";
import type { Configuration } from "./config/settings.js";
import { lockStateFolder, SaveState, tidyFolder } from "./config/state-files.js";
import { TokenStore } from "./config/token-store.js";
import { readPanel } from "./console/console-files.js";
import { makeMetrics } from "./console/metrics.js";
import { urlForDevice } from "./devices/admission.js";
import { type DeviceKey, openDeviceKey } from "./devices/device-key.js";
import { makePictures, type Pictures } from "./devices/pictures/pictures.js";
import { answerUnavailable } from "./http/listener.js";
import { fetchPolicy } from "./http/public-request.js";
import type { HttpEnv } from "./http/route.js";
import type { Logger } from "./log.js";
import { type LogLimiter, limitLog } from "./log-limiter.js";
import { Gateway, type GatewayOptions } from "./mcp/gateway.js";
import { management } from "./mcp/plugin.js";
import { ConfigurationError, type Plugin } from "./plugin.js";
import { PLUGINS } from "./plugins.js";
import { openStores, type Stores } from "./store/open-stores.js";
import { GATEWAY_INFO } from "./version.js";

/** Interval of the checks for changed tokens and certificates, ms. */
const TICK = 1_000;

/** The URLs that clients and devices connect to. */
export interface GatewayUrls {
	clients?: string;
	/** The console's page; absent in sources that were not bundled. */
	console?: string;
	websocket?: string;
	mqtt?: string;
	bootstrap?: string;
}

/** The settings, stores and services that a gateway uses. */
export interface GatewayHost extends Stores {
	readonly settings: Configuration;
	readonly log: Logger;
	readonly tokens: TokenStore;
	/** The folder of the console's bundle. Default: beside the gateway's bundle. */
	readonly consoleFolder?: string | undefined;
	/** Resolves names that strangers have chosen. Default: the system's resolver. */
	readonly resolve?: LookupFunction | undefined;
	/** Called when everything else is closed. */
	readonly onClosed?: () => Promise<void>;
}

export interface CreateGatewayOptions extends Omit<GatewayHost, keyof Stores | "tokens" | "onClosed"> {
	/** An operator's own plugins. */
	readonly plugins?: readonly Plugin[];
	/**
	 * Called when another gateway has taken the state folder over, because this process was stopped for a while. It must end
	 * the process: the files are the other's. Default: ends it.
	 */
	readonly onFolderLost?: () => void;
}

/**
 * Phases of a gateway's life, in order. "listen": opens ports; all problems are reported together. "started": every port is open.
 * "tick": each second. "stop": accepts no more requests. "drain": hands over, while calls in progress end. "close": last set up,
 * first closed.
 */
type Phase = "listen" | "started" | "tick" | "stop" | "drain" | "close";

type Hook = () => Promise<void> | void;

/** A gateway with the features that its settings enable. Plugins add to it only while it is set up. */
export class RunningGateway extends Gateway {
	readonly settings: Configuration;
	readonly log: Logger;
	/** For messages that strangers can cause. */
	readonly limitedLog: LogLimiter;
	readonly store: GatewayHost["store"];
	readonly shortLived: GatewayHost["shortLived"];
	readonly connection: GatewayHost["connection"];
	readonly consoleFolder: string | undefined;
	readonly resolve: LookupFunction | undefined;
	readonly tokens: TokenStore;
	readonly saves: SaveState;
	/** Derives secrets that survive a restart. */
	readonly key: DeviceKey;
	/** Complete once every port is open. */
	readonly urls: GatewayUrls;
	readonly pictures: Pictures;
	/** Returns the URL at which a device reaches the gateway over HTTP, without a path; undefined if unknown. */
	readonly urlFor: (identity: ServerIdentity) => string | undefined;
	readonly metrics = makeMetrics();
	/** Routes for devices, on the ports of clients and of WebSockets. They check a secret themselves: any Host is accepted. */
	readonly deviceRoutes = new Hono<HttpEnv>();
	/** Routes for everybody. Host and Origin are checked. */
	readonly publicRoutes = new Hono<HttpEnv>();
	/** Routes for clients with a token. Those of read-only tokens change nothing, and changes are in the audit log. */
	readonly routes = new Hono<HttpEnv>();
	readonly #hooks = new Map<Phase, Hook[]>();
	#timer: NodeJS.Timeout | undefined;

	private constructor(
		options: GatewayOptions,
		host: GatewayHost & Pick<RunningGateway, "pictures" | "urls" | "urlFor" | "key">,
	) {
		super(options, (message) => host.log.warn(message));
		this.settings = host.settings;
		this.log = host.log;
		this.limitedLog = limitLog(host.log);
		this.store = host.store;
		this.shortLived = host.shortLived;
		this.connection = host.connection;
		this.consoleFolder = host.consoleFolder;
		this.resolve = host.resolve;
		this.tokens = host.tokens;
		this.key = host.key;
		this.urls = host.urls;
		this.pictures = host.pictures;
		this.urlFor = host.urlFor;
		this.saves = new SaveState((problem) =>
			problem
				? this.log.error(`the state cannot be saved: ${problem.message}`)
				: this.log.info("the state can be saved again"),
		);
		this.store.on("saved", (problem) => {
			// The cluster reports an outage once.
			if (problem === undefined || this.store.isConnected) {
				this.saves.note("store", problem);
			}
		});
		this.on("close", async () => host.onClosed?.());
		this.on("close", () => this.limitedLog.flush());
		// Devices may connect until their ports are closed.
		this.on("close", () => super.close());
		this.#countServers();
	}

	/** Lists the settings for display, by group and without secrets. Plugins cannot import that module, which imports them. */
	listSettings(): ListedSettings {
		return listSettings(this.settings);
	}

	/**
	 * Sets up a gateway with these plugins, which listen once it is started. Rejects with ConfigurationError, and then leaves
	 * nothing open.
	 */
	static async setUp(host: GatewayHost, plugins: readonly Plugin[]): Promise<RunningGateway> {
		const { settings, store } = host;
		const urls: GatewayUrls = {};
		const urlFor = (identity: ServerIdentity) => urls.clients && urlForDevice(identity, settings, urls.clients);
		const ownUrls = (identity: ServerIdentity) => [urlFor(identity), urls.clients];
		const pictures = makePictures(urlFor);
		const key = openDeviceKey(settings.stateFolder);
		const options: GatewayOptions = {
			...settings,
			store,
			aliases: new Map([...settings.aliases].map(([id, alias]) => [deviceIdOf(id), alias])),
			// The gateways of a cluster have the same device-key.
			...(settings.cluster !== undefined && { requestStateKey: key.derive("request-state") }),
			maxServers: settings.maxDevices,
			callsPerServer: settings.callsPerDevice,
			info: GATEWAY_INFO,
			uploads: pictures,
			panel: readPanel(host.consoleFolder),
			checkCall: fetchPolicy(settings.fetchHosts, ownUrls, host.resolve),
		};
		let gateway: RunningGateway;
		try {
			gateway = new RunningGateway(options, { ...host, urls, urlFor, pictures, key });
		} catch (error) {
			throw error instanceof RangeError
				? new ConfigurationError([`aliases: ${error.message}`], { cause: error })
				: error;
		}
		for (const plugin of plugins) {
			try {
				gateway.provided.set(plugin.name, await plugin.setup(gateway));
			} catch (error) {
				await gateway.close();
				const isOperators = !(PLUGINS as readonly Plugin[]).includes(plugin);
				throw isOperators ? failureOf(plugin, error) : error;
			}
		}
		return gateway;
	}

	/** Returns the value of a plugin that was set up before. */
	use<Value>(plugin: Plugin<Value>): Value {
		if (!this.provided.has(plugin.name)) {
			throw new Error(`plugin ${plugin.name} is not set up yet`);
		}
		return this.find(plugin) as Value;
	}

	/** Adds a step to a phase. */
	on(phase: Phase, hook: Hook): void {
		this.#hooks.set(phase, [...(this.#hooks.get(phase) ?? []), hook]);
	}

	/** Opens every port. Rejects with ConfigurationError that names all that cannot be opened. */
	async start(): Promise<void> {
		const problems: Error[] = [];
		for (const listen of this.#hooks.get("listen") ?? []) {
			try {
				await listen();
			} catch (error) {
				problems.push(error as Error);
			}
		}
		const [problem, ...others] = problems;
		if (problem !== undefined) {
			throw others.length === 0 ? problem : new ConfigurationError(problems.map(({ message }) => message));
		}
		for (const onStarted of this.#hooks.get("started") ?? []) {
			await onStarted();
		}
		this.#timer = setInterval(() => {
			this.tokens.refresh();
			void this.#run("tick");
		}, TICK);
	}

	/**
	 * Stops: rejects new requests, gives the calls in progress `drainTime` to end and answers the rest with an error, then
	 * ends every session and stream. Settles when everything is stored.
	 */
	override async close(): Promise<void> {
		clearInterval(this.#timer);
		await this.#run("stop");
		await this.#run("drain");
		await this.servers.drain(this.settings.drainTime);
		await this.find(management)?.close();
		await this.servers.close();
		const closers = this.#hooks.get("close") ?? [];
		this.#hooks.delete("close");
		await this.#run("close", closers.reverse());
	}

	/** Runs the steps of a phase. If one fails, its error is logged, and the others still run. */
	async #run(phase: Phase, hooks = this.#hooks.get(phase) ?? []): Promise<void> {
		for (const hook of hooks) {
			try {
				await hook();
			} catch (error) {
				this.log.error({ err: error, phase }, (error as Error).message);
			}
		}
	}

	/** Measures devices, configured servers and their calls. */
	#countServers(): void {
		const { metrics, servers, saves } = this;
		const connected = (isOne: (identity: ServerIdentity) => boolean) => (): number =>
			servers.connections.filter(({ identity }) => isOne(identity)).length;
		const here = connected(({ configured, gateway }) => !configured && gateway === undefined);
		const elsewhere = connected(({ configured, gateway }) => !configured && gateway !== undefined);
		const known = (): number => servers.all.filter(({ configured }) => !configured).length;
		metrics.add("devices_connected", "Devices in a session with this gateway", here);
		metrics.add("devices_elsewhere", "Devices in a session with another gateway of the cluster", elsewhere);
		metrics.add("devices_known", "Devices known, online or offline", known);
		const configured = connected((identity) => identity.configured === true);
		metrics.add("servers_connected", "Configured servers that are connected", configured);
		const failures = "Files of the state folder that could not be written";
		metrics.add("saves_failed_total", failures, () => saves.failures);
		servers.on("call", ({ outcome, duration }) => metrics.calls.observe({ outcome }, duration / 1_000));
		servers.on("rejected", () => metrics.rejectedDevices.inc());
		this.updates.on("update", ({ step }) => metrics.firmware.inc({ step }));
	}
}

/**
 * Creates a gateway and starts it. Rejects with ConfigurationError that names every problem, if strangers could use it, a file
 * cannot be read or a port is in use. Then nothing is left running.
 */
export async function createGateway(options: CreateGatewayOptions): Promise<RunningGateway> {
	const { settings, log, plugins: own = [], onFolderLost = () => process.exit(1) } = options;
	const { stateFolder } = settings;
	const plugins: readonly Plugin[] = [...PLUGINS, ...own];
	const onLost = (): void => {
		log.error(`stateFolder ${stateFolder}: another gateway has taken this folder over: this one ends`);
		onFolderLost();
	};
	const opened: Hook[] = [];
	const closeOpened = async (): Promise<void> => {
		for (let close = opened.pop(); close !== undefined; close = opened.pop()) {
			await close();
		}
	};
	try {
		opened.push(await lockStateFolder(stateFolder, onLost));
		await tidyFolder(stateFolder);
		const { mode } = await stat(stateFolder);
		if (process.platform !== "win32" && (mode & 0o002) !== 0) {
			log.warn(`stateFolder ${stateFolder}: every user of this machine can change it: chmod o-w ${stateFolder}`);
		}
		const { close, ...stores } = await openStoresWhenReachable(settings, log);
		opened.push(close);
		const tokens = new TokenStore(stores.store);
		if (settings.open) {
			await tokens.open();
		}
		const names = plugins.map(({ name }) => name);
		const problems = [
			...tokenProblems(settings, tokens),
			...plugins.flatMap((plugin, at) => [
				...(names.indexOf(plugin.name) < at ? [`plugin ${plugin.name}: there are two of this name`] : []),
				...problemsOf(plugin, settings),
			]),
		];
		if (problems.length > 0) {
			throw new ConfigurationError(problems);
		}
		const gateway = await RunningGateway.setUp({ ...options, ...stores, tokens, onClosed: closeOpened }, plugins);
		await gateway.start().catch(async (error: Error) => {
			await gateway.close();
			throw error;
		});
		return gateway;
	} catch (error) {
		await closeOpened();
		// An error of the file system in the folder names the setting.
		const { path, message } = error as NodeJS.ErrnoException;
		throw path?.startsWith(stateFolder) === true
			? new ConfigurationError([`stateFolder ${stateFolder}: ${message}`], { cause: error })
			: error;
	}
}

/** Returns the problems that a plugin finds in the settings. */
function problemsOf(plugin: Plugin, settings: Configuration): readonly string[] {
	try {
		return [...(plugin.check?.(settings) ?? [])];
	} catch (error) {
		return [failureOf(plugin, error).message];
	}
}

/** Returns the problem of a plugin that has failed, with its name unless it names its settings. */
function failureOf({ name }: Plugin, error: unknown): ConfigurationError {
	return error instanceof ConfigurationError
		? error
		: new ConfigurationError([`plugin ${name}: ${(error as Error).message}`], { cause: error });
}

/** Opens the stores. While they cannot be reached, clients and devices are answered with 503. */
async function openStoresWhenReachable(settings: Configuration, log: Logger): ReturnType<typeof openStores> {
	let stopAnswers = async (): Promise<void> => {};
	const onWaiting = async (reason: string): Promise<void> => {
		log.warn(`${reason}: waiting for NATS. Until then, clients and devices are answered with 503`);
		stopAnswers = await answerUnavailable(settings);
	};
	try {
		return await openStores(settings, (message) => log.warn(message), onWaiting);
	} finally {
		await stopAnswers();
	}
}
