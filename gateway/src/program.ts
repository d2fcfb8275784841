import { stat } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import type { LookupFunction } from "node:net";
import type { Cluster } from "./cluster/cluster.js";
import { removeTemporaryFiles } from "./config/atomic-file.js";
import { ConfigurationError } from "./config/configuration.js";
import { lockStateFolder } from "./config/file-lock.js";
import { SaveState } from "./config/save-state.js";
import type { Configuration } from "./config/settings.js";
import { tokenProblems } from "./config/token-checks.js";
import { TokenStore } from "./config/token-store.js";
import { DeviceKey } from "./devices/device-key.js";
import { WebhookStore } from "./events/webhook-store.js";
import type { History } from "./history/history.js";
import type { Logger } from "./log/log.js";
import { LogLimiter } from "./log/log-limiter.js";
import type { Gateway } from "./mcp/gateway.js";
import { answerUnavailable } from "./program/answer-unavailable.js";
import { ClientSide } from "./program/client-side.js";
import type { ProgramContext, ProgramUrls } from "./program/context.js";
import { DeviceSide } from "./program/device-side.js";
import { joinCluster } from "./program/join-cluster.js";
import { type Core, openCore } from "./program/open-core.js";
import { openHomeAssistant } from "./program/open-home-assistant.js";
import { openStores } from "./store/open-stores.js";

/** Poll interval for changes of tokens and certificates, ms. */
const CHECK_INTERVAL = 1_000;

export interface ProgramOptions {
	/** Where the console's bundle is. Default: beside the gateway's; sources that were not bundled have no console. */
	readonly consoleFolder?: string;
	/** Resolves the names of clients' metadata documents. Default: the system's resolver. */
	readonly resolve?: LookupFunction;
	/**
	 * Called when another gateway has taken the state folder over, because this process was stopped for a while. It must end
	 * the process: the files are the other's. Default: ends it.
	 */
	readonly onFolderLost?: () => void;
}

/** A gateway with everything that its configuration asks for. */
export class GatewayProgram {
	readonly #context: ProgramContext;
	/** Steps to undo, last first. */
	readonly #closers: (() => Promise<void> | void)[];
	#core: Core | undefined;
	#clients: ClientSide | undefined;
	/** Undefined: this gateway is alone. */
	#cluster: Cluster | undefined;

	private constructor(
		context: Omit<ProgramContext, "tokens" | "urls" | "onClose">,
		closers: (() => Promise<void> | void)[],
	) {
		this.#closers = closers;
		const onClose: ProgramContext["onClose"] = (close) => void this.#closers.push(close);
		this.#context = { ...context, tokens: new TokenStore(context.store), urls: {}, onClose };
		onClose(() => context.limitedLog.flush());
	}

	/**
	 * Starts it. Rejects with ConfigurationError if strangers could use it, a file cannot be read or a port is in use. Then nothing
	 * is left running.
	 */
	static async start(configuration: Configuration, log: Logger, options: ProgramOptions = {}): Promise<GatewayProgram> {
		const { onFolderLost = () => process.exit(1), ...others } = options;
		const { stateFolder } = configuration;
		const onLost = (): void => {
			log.error(`stateFolder ${stateFolder}: another gateway has taken this folder over: this one ends`);
			onFolderLost();
		};
		const saves = new SaveState((problem) =>
			problem ? log.error(`the state cannot be saved: ${problem.message}`) : log.info("the state can be saved again"),
		);
		const closers: (() => Promise<void> | void)[] = [];
		try {
			closers.push(await lockStateFolder(stateFolder, onLost));
			await cleanFolder(stateFolder, log);
			const { close, ...stores } = await openStoresWhenReachable(configuration, log);
			closers.push(close);
			stores.store.on("saved", (problem) => {
				// The cluster reports an outage once.
				if (problem === undefined || stores.store.isConnected) {
					saves.note("store", problem);
				}
			});
			const limitedLog = new LogLimiter(log);
			const program = new GatewayProgram({ configuration, log, limitedLog, saves, ...stores, ...others }, closers);
			await program.#open().catch(async (error: Error) => {
				await program.close();
				throw error;
			});
			return program;
		} catch (error) {
			await closeAll(closers);
			throw stateError(configuration, error as Error);
		}
	}

	/** For programs that serve clients over other transports than HTTP. */
	get gateway(): Gateway {
		return (this.#core as Core).gateway;
	}

	/** Measurements of devices; undefined: off. */
	get history(): History | undefined {
		return this.#core?.history;
	}

	/** Where clients and devices connect. */
	get urls(): Readonly<ProgramUrls> {
		return this.#context.urls;
	}

	/**
	 * Stops: rejects new requests, gives the calls in progress `drainTime` to end and answers the rest with an error, then
	 * ends every session and stream. Settles when everything is on disk.
	 */
	async close(): Promise<void> {
		this.#clients?.stop();
		await this.#cluster?.drain();
		await this.#core?.gateway.servers.drain(this.#context.configuration.drainTime);
		await this.#core?.manager?.close();
		await this.#core?.gateway.servers.close();
		await this.#cluster?.close();
		await this.#clients?.close();
		await closeAll(this.#closers);
	}

	/** @throws ConfigurationError if strangers could use the gateway */
	#expectTokens(): void {
		const { configuration, tokens } = this.#context;
		const problems = tokenProblems(configuration, tokens);
		if (problems.length > 0) {
			throw new ConfigurationError(problems);
		}
	}

	/** Clients come first: a device that connects is told the URL for its pictures. */
	async #open(): Promise<void> {
		const { configuration, tokens } = this.#context;
		if (configuration.open) {
			await tokens.open();
		}
		this.#expectTokens();
		const core = await openCore(this.#context);
		this.#core = core;
		this.#cluster = await joinCluster(this.#context, core, () => this.#clients?.sessions ?? 0);
		this.#openWebhooks(core, this.#cluster);
		await openHomeAssistant(this.#context, core);
		const clients = new ClientSide(this.#context, core, this.#cluster);
		this.#clients = clients;
		const devices = new DeviceSide(this.#context, core);
		const addressOf = (request: IncomingMessage): string => clients.guard.addressOf(request);
		const routes = devices.routes({ rejections: clients.rejections, addressOf });
		await listenWithAll([() => clients.listen(routes, devices.bindings), () => devices.listen(routes)]);
		await devices.connect();
		clients.openEndpoints();
		this.#watchFiles(clients, devices);
	}

	/** Continues the deliveries by webhook; in a cluster, also those of gateways that are gone. */
	#openWebhooks({ events }: Core, cluster: Cluster | undefined): void {
		const { configuration, store, limitedLog } = this.#context;
		const webhooks = new WebhookStore({
			store,
			key: new DeviceKey(configuration.stateFolder).derive("webhooks"),
			...(cluster && {
				cluster: {
					self: { gateway: cluster.status.name, incarnation: cluster.incarnation },
					isPresent: (gateway, incarnation) => cluster.isPresent(gateway, incarnation),
				},
			}),
			onWarning: (message) => limitedLog.warn("events", {}, message),
		});
		events.events.open(webhooks);
	}

	/** Disconnects clients and devices whose token was removed; has listeners use certificates that were renewed. */
	#watchFiles(clients: ClientSide, devices: DeviceSide): void {
		const timer = setInterval(() => {
			this.#context.tokens.refresh();
			clients.recheck();
			devices.recheck();
		}, CHECK_INTERVAL);
		this.#context.onClose(() => clearInterval(timer));
	}
}

/** Opens the stores. While they cannot be reached, clients and devices are answered with 503. */
async function openStoresWhenReachable(configuration: Configuration, log: Logger): ReturnType<typeof openStores> {
	let stopAnswers = async (): Promise<void> => {};
	const onWaiting = async (reason: string): Promise<void> => {
		log.warn(`${reason}: waiting for NATS. Until then, clients and devices are answered with 503`);
		stopAnswers = await answerUnavailable(configuration);
	};
	try {
		return await openStores(configuration, (message) => log.warn(message), onWaiting);
	} finally {
		await stopAnswers();
	}
}

/** Removes what killed processes have left. Warns of a folder that everybody can write. */
async function cleanFolder(stateFolder: string, log: Logger): Promise<void> {
	await removeTemporaryFiles(stateFolder);
	const { mode } = await stat(stateFolder);
	if (process.platform !== "win32" && (mode & 0o002) !== 0) {
		log.warn(`stateFolder ${stateFolder}: every user of this machine can change it: chmod o-w ${stateFolder}`);
	}
}

/** Undoes steps, the last one first. */
async function closeAll(closers: (() => Promise<void> | void)[]): Promise<void> {
	for (let close = closers.pop(); close !== undefined; close = closers.pop()) {
		await close();
	}
}

/** Returns an error of the file system as one that names the setting `stateFolder`; any other as it is. */
function stateError({ stateFolder }: Configuration, error: NodeJS.ErrnoException): Error {
	return error.path?.startsWith(stateFolder) === true
		? new ConfigurationError([`stateFolder ${stateFolder}: ${error.message}`], { cause: error })
		: error;
}

/** Tries each listener, one after the other, so that one ConfigurationError names every port that is in use. */
async function listenWithAll(listeners: readonly (() => Promise<void>)[]): Promise<void> {
	const errors: Error[] = [];
	for (const listen of listeners) {
		await listen().catch((error: Error) => errors.push(error));
	}
	const [error, ...others] = errors;
	if (error !== undefined) {
		throw others.length === 0 ? error : new ConfigurationError(errors.map(({ message }) => message));
	}
}
