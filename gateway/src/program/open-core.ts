import { join } from "node:path";
import { McpManager } from "xs-mcp-manager";
import type { ServerIdentity } from "xs-mcp-manager/core";
import { ConfigurationError } from "../config/configuration.js";
import { deviceIdOf } from "../config/device-id.js";
import { SIGN_IN_COMMAND, signInFolder } from "../config/sign-ins.js";
import { urlForDevice } from "../devices/device-address.js";
import { DeviceKey } from "../devices/device-key.js";
import { FetchPolicy } from "../devices/fetch-policy.js";
import { Pictures } from "../devices/pictures/pictures.js";
import { EventLog } from "../events/event-log.js";
import { EventService } from "../events/event-service.js";
import { recordEvents } from "../events/record-events.js";
import { AuditLog } from "../history/audit-log.js";
import { History } from "../history/history.js";
import { JsonLines } from "../history/json-lines.js";
import { Gateway } from "../mcp/gateway.js";
import { managementToolsFor } from "../mcp/management.js";
import { accessOf } from "../oauth/request-guard.js";
import { speakTimers } from "../speech/announcements.js";
import { DeviceTurns } from "../speech/device-turns.js";
import { sayToolFor } from "../speech/say-tool.js";
import { GATEWAY_INFO } from "../version.js";
import type { ProgramContext } from "./context.js";
import { openListening } from "./open-listening.js";
import { type OpenedSpeech, openSpeech } from "./open-speech.js";

/** The servers, and what clients see of them: neither devices nor clients can connect yet. */
export interface Core {
	readonly gateway: Gateway;
	readonly pictures: Pictures;
	/** Says texts on devices; undefined: no setting says how. */
	readonly speech: OpenedSpeech | undefined;
	/** Measurements of devices; undefined: off. */
	readonly history: History | undefined;
	/** The log of calls and changes; undefined: off. */
	readonly audit: AuditLog | undefined;
	/** Connects to the configured servers. */
	readonly manager: McpManager | undefined;
	/** The events of the servers, and their log. */
	readonly events: { readonly events: EventService; readonly log: EventLog };
}

/** Open connections to configured servers; a further one closes the longest idle. */
const MAX_CONNECTIONS = 100;

/** Milliseconds that the start waits for configured servers. */
const SERVERS_TIME = 3_000;

/** Opens the registry of servers and connects to the configured ones. Rejects with ConfigurationError. */
export async function openCore(context: ProgramContext): Promise<Core> {
	const { configuration, urls } = context;
	const urlFor = (identity: ServerIdentity) => urls.clients && urlForDevice(identity, configuration, urls.clients);
	const pictures = new Pictures(urlFor);
	const gateway = await openGateway(context, pictures);
	context.onClose(() => gateway.close());
	const ownUrls = (identity: ServerIdentity) => [urlFor(identity), urls.clients];
	gateway.checkCall = new FetchPolicy({ hosts: configuration.fetchHosts, ownUrls, resolve: context.resolve }).check;
	const events = await openEvents(context, gateway);
	const history = openHistory(context, gateway);
	const audit = openAudit(context);
	const turns = new DeviceTurns();
	const speech = openSpeech(configuration, turns, urlFor);
	if (speech !== undefined && configuration.speakTimers) {
		speakTimers(gateway.servers, speech.announcements, (device, reason) =>
			context.limitedLog.warn("speech", { device }, `timer not said: ${reason}`),
		);
	}
	const announcements = speech?.announcements;
	const { servers } = gateway;
	const listeningToolsFor = await openListening({ context, servers, turns, announcements, audit, events });
	const manager = await openManager(context, gateway);
	gateway.ownTools = (access) => [
		...(manager ? managementToolsFor(access, manager, configuration.managementTools) : []),
		...(announcements ? sayToolFor(access, announcements, servers) : []),
		...(listeningToolsFor?.(access) ?? []),
	];
	return { gateway, pictures, speech, history, audit, manager, events };
}

/** Goes on with the history that the state folder has. */
function openHistory(context: ProgramContext, { servers }: Gateway): History | undefined {
	const { stateFolder, historyBytes: maxBytes } = context.configuration;
	if (maxBytes === 0) {
		return undefined;
	}
	const history = new History(servers, join(stateFolder, "history"), maxBytes, (error) =>
		context.saves.note("log", error),
	);
	context.onClose(() => history.close());
	return history;
}

function openAudit({ configuration, saves, onClose }: ProgramContext): AuditLog | undefined {
	const { stateFolder, auditBytes: maxBytes } = configuration;
	if (maxBytes === 0) {
		return undefined;
	}
	const lines = new JsonLines(join(stateFolder, "audit."), maxBytes, (error) => saves.note("log", error));
	onClose(() => lines.close());
	return new AuditLog(lines);
}

/** Continues the events that the state folder has; a cluster has its own. */
async function openEvents(
	{ configuration, tokens, saves, resolve, limitedLog, onClose }: ProgramContext,
	gateway: Gateway,
): Promise<Core["events"]> {
	const { stateFolder, userTools, webhookHosts, cluster, microphones } = configuration;
	const folder = join(stateFolder, "events");
	const log = await EventLog.open(cluster === undefined ? folder : undefined, (error) => saves.note("log", error));
	recordEvents(log, gateway.servers, gateway.updates);
	const onWarning = (message: string): void => limitedLog.warn("events", {}, message);
	const events = new EventService({
		log,
		servers: gateway.servers,
		resolve,
		microphones,
		trustedHosts: webhookHosts,
		accessOf: (holder) => {
			const token = tokens.current(holder);
			return token && accessOf(token.name, token, userTools, holder);
		},
		onWarning,
	});
	gateway.events = events;
	onClose(() => events.close());
	return { events, log };
}

async function openGateway({ configuration, log, store }: ProgramContext, pictures: Pictures): Promise<Gateway> {
	const { maxDevices: maxServers, callsPerDevice: callsPerServer, stateFolder, cluster } = configuration;
	// The gateways of a cluster have the same device-key.
	const key = cluster === undefined ? {} : { requestStateKey: new DeviceKey(stateFolder).derive("request-state") };
	const aliases = new Map([...configuration.aliases].map(([id, alias]) => [deviceIdOf(id), alias]));
	const options = {
		...configuration,
		store,
		aliases,
		...key,
		maxServers,
		callsPerServer,
		info: GATEWAY_INFO,
		uploads: pictures,
	};
	try {
		return await Gateway.open(options, (message) => log.warn(message));
	} catch (error) {
		throw new ConfigurationError([`aliases: ${(error as Error).message}`], { cause: error });
	}
}

/** Connects to the configured servers. Slow ones are waited for in the background. */
async function openManager(context: ProgramContext, gateway: Gateway): Promise<McpManager | undefined> {
	const { configuration, log } = context;
	const { serversFile: file, managementTools } = configuration;
	if (file === undefined && managementTools === "off") {
		return undefined;
	}
	const signIns = { folder: signInFolder(configuration.stateFolder), how: SIGN_IN_COMMAND };
	const manager = new McpManager({
		file,
		registry: gateway.servers,
		options: { maxConnections: MAX_CONNECTIONS, signIns },
	});
	manager.on("warning", (message) => log.warn(message));
	logStatus(manager, log);
	manager.on("debug", (server, line) => log.debug({ server }, line));
	// A server that cannot be connected is not found, or offline: its status says why.
	gateway.whenKnown = async (server) => {
		await manager.whenKnown(server).catch(() => {});
		const { status, lastError } = manager.listConnections().find(({ id }) => id === server) ?? {};
		return status === "error" ? `${server} is not connected: ${lastError}` : undefined;
	};
	await manager.initialize(SERVERS_TIME);
	return manager;
}

/** Once for each outage: attempts to connect again are details. */
function logStatus(manager: McpManager, log: ProgramContext["log"]): void {
	const down = new Set<string>();
	manager.on("status", (server, status, reason) => {
		const level = status === "connecting" || down.has(server) ? "debug" : "info";
		if (status === "error") {
			down.add(server);
		} else if (status !== "connecting") {
			down.delete(server);
		}
		log[status === "connected" ? "info" : level]({ server, ...(reason && { reason }) }, `server ${status}`);
	});
}
