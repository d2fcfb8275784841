import { basename } from "node:path";
import type { McpManager } from "xs-mcp-manager";
import type { ServerIdentity } from "xs-mcp-manager/core";
import type { Cluster } from "../cluster/cluster.js";
import { isLoopback as isLoopbackAddress, publicOrigin, urlAt } from "../config/listen-address.js";
import { TlsFiles } from "../config/tls-files.js";
import { claudeExtension } from "../console/claude-extension.js";
import { type ConsoleFiles, readConsole } from "../console/console-files.js";
import type { ConsoleOptions } from "../console/console-routes.js";
import { urlsForDevices } from "../console/device-urls.js";
import { Fleet } from "../console/fleet.js";
import type { ServerEntry } from "../console/messages.js";
import { bindingSummary } from "../devices/bootstrap/binding-routes.js";
import { BOOTSTRAP_PATHS } from "../devices/bootstrap/bootstrap-routes.js";
import type { DeviceBindings } from "../devices/bootstrap/device-bindings.js";
import { urlForDevice } from "../devices/device-address.js";
import { DeviceKey } from "../devices/device-key.js";
import { RejectionReport } from "../http/rejections.js";
import { HttpServer } from "../http/server.js";
import { openClient } from "../mcp/client.js";
import type { Channel } from "../mcp/client-request.js";
import { localAccess, RequestGuard } from "../oauth/request-guard.js";
import { openSignIn, type SignIn } from "../oauth/sign-in.js";
import { type GatewayEvent, type GatewayEvents, gatewayEvents } from "../operator/events.js";
import { Metrics } from "../operator/metrics.js";
import { Endpoint } from "../transports/endpoint.js";
import { HttpEndpoint } from "../transports/http-endpoint.js";
import { createApp } from "./app.js";
import { listenAt, type ProgramContext, renewTls } from "./context.js";
import { createDeviceApp, type DeviceAppOptions } from "./device-app.js";
import type { Core } from "./open-core.js";

/** The side of clients and the operator: HTTP server, metrics, and connections to hosted agents' endpoints. */
export class ClientSide {
	readonly guard: RequestGuard;
	readonly rejections: RejectionReport;
	readonly #context: ProgramContext;
	readonly #core: Core;
	readonly #endpoint: HttpEndpoint;
	readonly #events: GatewayEvents;
	readonly #metrics: Metrics;
	/** Undefined: off. */
	readonly #signIn: SignIn | undefined;
	/** The console's page; undefined in sources that were not bundled. */
	readonly #files: ConsoleFiles | undefined;
	/** Undefined: the gateway is alone. */
	readonly #cluster: Cluster | undefined;
	#httpServer: HttpServer | undefined;
	#renewTls: (() => void) | undefined;

	constructor(context: ProgramContext, core: Core, cluster: Cluster | undefined) {
		this.#context = context;
		this.#core = core;
		this.#cluster = cluster;
		const { configuration, log, limitedLog, tokens } = context;
		const { servers } = core.gateway;
		const sessionKey = new DeviceKey(configuration.stateFolder).derive("client-session");
		const endpoint = new HttpEndpoint(core.gateway, { ...configuration, sessionKey });
		const connected = (kind: ReturnType<typeof kindOf>): number =>
			servers.connections.filter(({ identity }) => kindOf(identity) === kind).length;
		const metrics = new Metrics({
			devicesConnected: () => connected("device"),
			devicesElsewhere: () => connected("elsewhere"),
			devicesKnown: () => servers.all.filter(({ configured }) => !configured).length,
			serversConnected: () => connected("server"),
			sessions: () => endpoint.sessions,
			cluster: cluster && { listsRefused: () => servers.refusedLists, isConnected: () => cluster.status.connected },
			historyBytes: () => core.history?.bytes ?? 0,
			auditBytes: () => core.audit?.lines.bytes ?? 0,
			failedSaves: () => context.saves.failures,
			droppedWebhookEvents: () => core.events.events.webhooks.dropped,
		});
		this.#endpoint = endpoint;
		this.#files = readConsole(context.consoleFolder);
		core.gateway.panel = this.#files?.panel;
		this.#metrics = metrics;
		this.#events = gatewayEvents(servers, core.gateway.updates);
		this.#signIn = openSignIn(context);
		const [address, signIn] = [configuration.httpAddress, this.#signIn];
		// The pages of the gateway itself, at its public URL.
		const own = signIn?.server && new URL(signIn.server.origin).hostname;
		const allowedOrigins = [...configuration.allowedOrigins, ...(own === undefined ? [] : [own])];
		this.guard = new RequestGuard({ ...configuration, address, allowedOrigins, tokens, signIn });
		this.rejections = new RejectionReport({
			log,
			limitedLog,
			onRejected: (reason) => metrics.rejectedRequests.inc({ reason }),
			addressOf: (request) => this.guard.addressOf(request),
		});
		servers.on("call", ({ outcome, duration }) => metrics.calls.observe({ outcome }, duration / 1_000));
		servers.on("rejected", (description) => {
			metrics.rejectedDevices.inc();
			limitedLog.warn("device", {}, `rejected: ${description}`);
		});
		servers.on("connected", (_server, { identity }) =>
			this.#logSession(identity, { transport: identity.transport }, "device connected"),
		);
		servers.on("disconnected", (_server, { identity }, reason) =>
			this.#logSession(identity, { reason }, "device disconnected"),
		);
		core.gateway.updates.on("update", ({ step }) => metrics.firmware.inc({ step }));
		this.#events.on("event", (event) => this.#logEvent(event));
	}

	/** Serves clients over HTTP, and devices on the same port. Rejects with ConfigurationError. */
	async listen(deviceRoutes: DeviceAppOptions, bindings: DeviceBindings): Promise<void> {
		const { configuration, log, store, tokens, urls, onClose } = this.#context;
		const { httpAddress: address, httpPort: port, maxBodyBytes, bootstrap } = configuration;
		const { servers } = this.#core.gateway;
		const files = TlsFiles.of("http", configuration);
		const tls = files?.options;
		const app = createApp({
			endpoint: this.#endpoint,
			servers,
			events: this.#events,
			metrics: this.#metrics,
			guard: this.guard,
			rejections: this.rejections,
			maxBodyBytes,
			bindings,
			deviceApp: createDeviceApp(deviceRoutes),
			firmware: deviceRoutes.bootstrap.firmware,
			publicOrigin: publicOrigin(configuration.publicUrl),
			signIn: this.#signIn && { signIn: this.#signIn, tokens, store, log, devices: () => servers.all },
			cluster: () => this.#cluster?.status,
			history: this.#core.history,
			audit: this.#core.audit,
			saves: this.#context.saves,
			console: this.#console(bindings),
			urlFor: (identity) =>
				this.#context.urls.clients && urlForDevice(identity, configuration, this.#context.urls.clients),
		});
		const options = { app, address, port, rejections: this.rejections, log, ...(tls && { tls }) };
		const server = new HttpServer(options);
		this.#httpServer = server;
		this.#renewTls = () => renewTls(files, server, log);
		const actual = await listenAt("http", port, () => server.listen());
		onClose(() => server.close());
		const url = urlAt(tls ? "https" : "http", address, actual);
		urls.clients = `${url}/mcp`;
		if (this.#files !== undefined) {
			urls.console = `${url}/`;
		}
		if (bootstrap !== "closed") {
			urls.bootstrap = `${url}${BOOTSTRAP_PATHS.ota}/`;
		}
	}

	#console(bindings: DeviceBindings): ConsoleOptions {
		const { configuration, tokens, urls } = this.#context;
		const { firmwareFolder } = configuration;
		const { gateway, manager } = this.#core;
		const fleet = new Fleet({
			servers: gateway.servers,
			updates: gateway.updates,
			events: gateway.events,
			audit: this.#core.audit,
			lists: () => ({
				approvals: bindings.pending.map(bindingSummary),
				clients: this.#endpoint.clients,
				servers: serversOf(manager),
			}),
		});
		const { websocket, websocketAddress, mqtt, mqttAddress } = configuration;
		const isLoopback =
			!(websocket && !isLoopbackAddress(websocketAddress)) && !(mqtt && !isLoopbackAddress(mqttAddress));
		const hasVoice = this.#core.speech !== undefined;
		const bridge = bridgeCommand();
		const describe = () => ({
			urls: urlsForDevices(urls, configuration),
			isLoopback,
			hasFirmware: firmwareFolder !== undefined,
			hasVoice,
			...(bridge && { bridge }),
		});
		const extension = claudeExtension(this.guard, this.#context.consoleFolder);
		const { events } = gateway;
		return { files: this.#files, extension, fleet, events, manager, tokens, describe };
	}

	/** Sessions of clients. */
	get sessions(): number {
		return this.#endpoint.sessions;
	}

	/** Connects to the endpoints of hosted agents, and keeps the connections. */
	openEndpoints(): void {
		const { configuration, log, onClose } = this.#context;
		const { endpoints, userTools } = configuration;
		for (const url of endpoints) {
			const principal = `endpoint ${new URL(url).host}`;
			// Hosted agents are elsewhere.
			const access = { ...localAccess(userTools), principal, microphone: false };
			const onChange = (text: string): void => log.info(text);
			const { gateway } = this.#core;
			const open = (channel: Channel) => openClient(gateway, gateway.catalog(access), channel);
			const endpoint = new Endpoint({ url, onChange, open });
			onClose(() => endpoint.close());
		}
	}

	/** Disconnects clients whose token was removed, and uses a certificate that was renewed. */
	recheck(): void {
		this.guard.recheck();
		this.#core.gateway.events?.webhooks.recheck();
		this.#renewTls?.();
	}

	/** Rejects new requests. Those in progress go on. */
	stop(): void {
		this.#endpoint.stop();
		this.#httpServer?.stop();
	}

	/** Ends every session and stream. */
	async close(): Promise<void> {
		await this.#endpoint.close();
	}

	/** The manager's status is logged for configured servers. A device of another gateway is in that one's log. */
	#logSession({ id, configured, gateway }: ServerIdentity, details: object, message: string): void {
		if (!configured) {
			const level = gateway === undefined ? "info" : "debug";
			this.#context.log[level]({ device: id, ...(gateway && { gateway }), ...details }, message);
		}
	}

	#logEvent({ type, time: _, ...details }: GatewayEvent): void {
		const isRollback = "step" in details && details.step === "rolled-back";
		if (type === "firmware") {
			this.#context.log[isRollback ? "warn" : "info"](details, type);
		} else if (type === "notification" || type === "call") {
			this.#context.log.debug(details, type);
		}
	}
}

/** The peer of a session: a device, one of another gateway, or a configured server. */
function kindOf({ configured, gateway }: ServerIdentity): "device" | "elsewhere" | "server" {
	if (configured) {
		return "server";
	}
	return gateway === undefined ? "device" : "elsewhere";
}

/** The configured servers, for the console. */
function serversOf(manager: McpManager | undefined): ServerEntry[] {
	const ids = new Set(manager?.configs.map(({ id }) => id));
	return (manager?.listConnections() ?? []).filter(({ id }) => ids.has(id));
}

/** The command that starts the bridge of this installation; undefined if the process was started by another program. */
function bridgeCommand(): { readonly command: string; readonly args: readonly string[] } | undefined {
	const [, program = ""] = process.argv;
	return /^xs-mcp-gateway(\.m?js)?$/.test(basename(program))
		? { command: process.execPath, args: [program, "stdio"] }
		: undefined;
}
