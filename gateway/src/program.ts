import type { IncomingMessage } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { Gateway } from "./catalog/gateway.js";
import { ConfigurationError } from "./config/configuration.js";
import { urlAt } from "./config/listen-address.js";
import { withoutPassword } from "./config/setting-kinds.js";
import { type Configuration, flagOf } from "./config/settings.js";
import { readPem, readTls } from "./config/tls-files.js";
import { tokenProblems } from "./config/token-checks.js";
import { TokenStore } from "./config/token-store.js";
import { Pictures } from "./core/pictures.js";
import { DeviceGuard } from "./devices/admission.js";
import { Announcer, type DeviceListener, describeServices } from "./devices/announcement.js";
import { DeviceBindings, type PendingBinding } from "./devices/device-bindings.js";
import { DeviceKey } from "./devices/device-key.js";
import { MqttDevices } from "./devices/mqtt.js";
import { WebSocketDevices } from "./devices/websocket.js";
import { createApp } from "./http/app.js";
import { localAccess, RequestGuard } from "./http/clients/auth.js";
import { SourceCheck } from "./http/clients/source-check.js";
import { BOOTSTRAP_PATHS, type BootstrapRoutesOptions } from "./http/devices/bootstrap-routes.js";
import { urlForDevice } from "./http/devices/device-address.js";
import { createDeviceApp, createDeviceServerApp, type DeviceAppOptions } from "./http/devices/device-app.js";
import { FirmwareFolder } from "./http/devices/firmware-folder.js";
import { VisionModel } from "./http/devices/vision-model.js";
import { RequestLimits } from "./http/limits.js";
import { type GatewayEvent, GatewayEvents } from "./http/operator/events.js";
import { Metrics } from "./http/operator/metrics.js";
import { RejectionReport } from "./http/rejections.js";
import { HttpServer, makeListener } from "./http/server.js";
import type { Logger } from "./log/log.js";
import { LogLimiter } from "./log/log-limiter.js";
import { McpManager } from "./manager/mcp-manager.js";
import { managementToolsFor } from "./mcp/management.js";
import { openClientServer } from "./mcp/open-client-server.js";
import { Endpoint } from "./transports/endpoint.js";
import { HttpEndpoint } from "./transports/http-endpoint.js";

/** Milliseconds between looks at whether tokens were added or removed. */
const TOKEN_CHECK_INTERVAL = 1_000;

/** Milliseconds that the start waits for the other MCP servers. */
const SERVERS_TIME = 3_000;

/** A gateway with everything that its configuration asks for. */
export class GatewayProgram {
	readonly #configuration: Configuration;
	readonly #log: Logger;
	readonly #limitedLog: LogLimiter;
	readonly #tokens: TokenStore;
	readonly #pictures: Pictures;
	readonly #urls: { clients?: string; websocket?: string; mqtt?: string; bootstrap?: string } = {};
	readonly #deviceKey: DeviceKey;
	readonly #deviceGuards: DeviceGuard[] = [];
	/** Where the gateway listens for devices. */
	readonly #listeners: { websocket?: DeviceListener; mqtt?: DeviceListener } = {};
	/** Disconnect the devices that would no longer be admitted. */
	readonly #rechecks: (() => void)[] = [];
	/** What to undo, last first. */
	readonly #closers: (() => Promise<void> | void)[] = [];
	#gateway!: Gateway;
	#httpServer: HttpServer | undefined;
	#endpoint: HttpEndpoint | undefined;
	#metrics!: Metrics;
	#requestGuard!: RequestGuard;
	/** The other MCP servers. */
	#manager: McpManager | undefined;
	/** Answers the HTTP requests of devices on the port of their WebSockets. */
	#onDeviceRequest!: ReturnType<typeof makeListener>;

	private constructor(configuration: Configuration, log: Logger) {
		this.#configuration = configuration;
		this.#log = log;
		this.#limitedLog = new LogLimiter(log);
		this.#pictures = new Pictures({
			urlFor: (identity) => this.#urls.clients && urlForDevice(identity, configuration, this.#urls.clients),
		});
		this.#closers.push(() => this.#limitedLog.flush());
		this.#deviceKey = new DeviceKey(configuration.stateFolder);
		this.#tokens = new TokenStore(configuration.stateFolder, (error) => log.error(error.message));
	}

	/**
	 * Starts it. Rejects with ConfigurationError if it would be open to strangers, a file cannot be read or a port is in
	 * use, and with TokenError if the file of tokens is damaged. Then nothing is left running.
	 */
	static async start(configuration: Configuration, log: Logger): Promise<GatewayProgram> {
		const program = new GatewayProgram(configuration, log);
		if (configuration.open) {
			program.#tokens.open();
		}
		const problems = tokenProblems(configuration, program.#tokens);
		if (problems.length > 0) {
			throw new ConfigurationError(problems);
		}
		try {
			await program.#open();
		} catch (error) {
			await program.close();
			throw error;
		}
		return program;
	}

	/** For those who serve clients in another way than HTTP. */
	get gateway(): Gateway {
		return this.#gateway;
	}

	/** Where clients and devices connect. */
	get urls(): Readonly<{ clients?: string; websocket?: string; mqtt?: string; bootstrap?: string }> {
		return this.#urls;
	}

	/**
	 * Stops: takes no more requests, gives the calls under way `drainTime` to end and answers the rest with an error, then
	 * ends every session and stream. Settles when everything is on disk.
	 */
	async close(): Promise<void> {
		this.#endpoint?.stop();
		this.#httpServer?.stop();
		await this.#gateway?.servers.drain(this.#configuration.drainTime);
		await this.#manager?.close();
		await this.#gateway?.servers.close();
		await this.#endpoint?.close();
		for (let close = this.#closers.pop(); close !== undefined; close = this.#closers.pop()) {
			await close();
		}
	}

	async #open(): Promise<void> {
		this.#gateway = await this.#openGateway();
		this.#closers.push(() => this.#gateway.close());
		await this.#openManager();
		await this.#openHttp();
		this.#gateway.servers.on("rejected", (description) => {
			this.#metrics.deviceRejected();
			this.#limitedLog.warn("device", {}, `rejected: ${description}`);
		});
		await this.#openWebSocket();
		await this.#openMqtt();
		await this.#openBroker();
		this.#announce();
		this.#openEndpoints();
		this.#watchTokens();
	}

	async #openGateway(): Promise<Gateway> {
		try {
			const options = { ...this.#configuration, pictures: this.#pictures };
			return await Gateway.open(options, (message) => this.#log.warn(message));
		} catch (error) {
			const name = error instanceof RangeError ? "aliases" : `stateFolder ${this.#configuration.stateFolder}`;
			throw new ConfigurationError([`${name}: ${(error as Error).message}`], { cause: error });
		}
	}

	/** Connects to the other MCP servers. Those that take long come later. */
	async #openManager(): Promise<void> {
		const { serversFile: file, managementTools } = this.#configuration;
		if (file === undefined && managementTools === "off") {
			return;
		}
		const { servers } = this.#gateway;
		const manager = new McpManager({ file, registry: servers });
		this.#manager = manager;
		manager.on("warning", (message) => this.#log.warn(message));
		manager.on("status", (server, status, reason) =>
			this.#log.info({ server, ...(reason && { reason }) }, `server ${status}`),
		);
		this.#gateway.ownTools = (access) => managementToolsFor(access, manager, this.#configuration);
		await Promise.race([manager.initialize(), delay(SERVERS_TIME, undefined, { ref: false })]);
	}

	async #openHttp(): Promise<void> {
		const { httpAddress: address, httpPort: port } = this.#configuration;
		const endpoint = new HttpEndpoint(this.#gateway, this.#configuration);
		this.#endpoint = endpoint;
		const { servers } = this.#gateway;
		const events = new GatewayEvents(servers);
		this.#metrics = new Metrics({
			devicesConnected: () => servers.sessions.length,
			devicesKnown: () => servers.all.length,
			sessions: () => endpoint.sessions,
		});
		servers.on("call", ({ outcome, duration }) => this.#metrics.called(outcome, duration));
		events.on("event", (event) => this.#logEvent(event));
		const tls = readTls("http", this.#configuration);
		const guard = new RequestGuard({ ...this.#configuration, address, tokens: this.#tokens });
		this.#requestGuard = guard;
		const metrics = this.#metrics;
		const rejections = new RejectionReport({
			log: this.#log,
			limitedLog: this.#limitedLog,
			metrics,
			addressOf: (request) => guard.addressOf(request),
		});
		const { bodyTimeout, maxBodyBytes } = this.#configuration;
		const bindings = this.#openBindings();
		const deviceRoutes = this.#deviceRoutes(guard, rejections, bindings);
		this.#onDeviceRequest = makeListener({ app: createDeviceServerApp(deviceRoutes), rejections });
		const deviceApp = createDeviceApp(deviceRoutes);
		const routes = { endpoint, servers, events, metrics, guard, rejections, maxBodyBytes, bindings, deviceApp };
		const app = createApp(routes);
		const options = { app, address, port, bodyTimeout, rejections, log: this.#log, ...(tls && { tls }) };
		const server = new HttpServer(options);
		this.#httpServer = server;
		const actual = await this.#listen("http", port, () => server.listen());
		this.#closers.push(() => server.close());
		const url = urlAt(tls ? "https" : "http", address, actual);
		this.#urls.clients = `${url}/mcp`;
		if (this.#configuration.bootstrap !== "closed") {
			this.#urls.bootstrap = `${url}${BOOTSTRAP_PATHS.ota}/`;
		}
	}

	#openBindings(): DeviceBindings {
		const { bootstrap: mode, maxDevices } = this.#configuration;
		const onPending = ({ code, deviceId, board, address }: PendingBinding): void =>
			this.#log.info({ device: deviceId, board, address }, `a device waits: xs-mcp-gateway devices approve ${code}`);
		return new DeviceBindings({ mode, tokens: this.#tokens, key: this.#deviceKey, maxDevices, onPending });
	}

	#bootstrapRoutes(
		common: Pick<BootstrapRoutesOptions, "limits" | "addressOf" | "log" | "bindings">,
	): BootstrapRoutesOptions {
		const { httpAddress, websocketAddress, mqttAddress, publicUrl, firmwareFolder, ...rest } = this.#configuration;
		const publicHosts = publicUrl === undefined ? [] : [new URL(publicUrl).hostname];
		const allowedHosts = [...rest.allowedHosts, ...publicHosts];
		return {
			...common,
			key: this.#deviceKey,
			source: new SourceCheck([httpAddress, websocketAddress, mqttAddress], { ...rest, allowedHosts }),
			needsBinding: () => rest.bootstrap !== "open" || this.#deviceGuards.some(({ needsToken }) => needsToken),
			deviceAddresses: () => ({
				websocket: rest.websocketUrl ?? this.#listeners.websocket,
				mqtt: rest.mqttEndpoint ?? this.#listeners.mqtt,
			}),
			publicUrl,
			firmware: firmwareFolder === undefined ? undefined : new FirmwareFolder(firmwareFolder),
		};
	}

	#guardDevices(address: string): DeviceGuard {
		const guard = new DeviceGuard(address, this.#tokens, this.#configuration.bootstrap === "approve");
		this.#deviceGuards.push(guard);
		return guard;
	}

	#deviceRoutes(guard: RequestGuard, rejections: RejectionReport, bindings: DeviceBindings): DeviceAppOptions {
		const { maxPictureBytes, visionUrl: url, visionModel: model, visionKey: key } = this.#configuration;
		const timeout = this.#configuration.visionTimeout;
		const visionModel = url && model ? new VisionModel({ url, model, key, timeout }) : undefined;
		const common = {
			limits: new RequestLimits(this.#configuration),
			addressOf: (request: IncomingMessage) => guard.addressOf(request),
			log: this.#log,
		};
		const bootstrap = this.#bootstrapRoutes({ ...common, bindings });
		return { ...common, pictures: this.#pictures, maxPictureBytes, visionModel, rejections, bootstrap };
	}

	#logEvent({ type, time: _, ...details }: GatewayEvent): void {
		const isSession = type === "connected" || type === "disconnected";
		this.#log[isSession ? "info" : "debug"](details, isSession ? `device ${type}` : type);
	}

	async #openWebSocket(): Promise<void> {
		const { websocket, websocketAddress: host, websocketPort: port, allowedOrigins } = this.#configuration;
		if (!websocket) {
			return;
		}
		const tls = readTls("websocket", this.#configuration);
		const guard = this.#guardDevices(host);
		const { authenticate } = guard;
		const devices = new WebSocketDevices(this.#gateway.servers, {
			host,
			port,
			authenticate,
			allowedOrigins,
			onRequest: this.#onDeviceRequest,
			requestTimeout: this.#configuration.bodyTimeout,
			...(tls && { tls }),
		});
		this.#rechecks.push(() => devices.recheck(guard.currentlyAdmits()));
		const actual = await this.#listen("websocket", port, () => devices.listen());
		this.#closers.push(() => devices.close());
		this.#listeners.websocket = { scheme: tls ? "wss" : "ws", address: host, port: actual };
		this.#urls.websocket = `${urlAt(tls ? "wss" : "ws", host, actual)}/`;
	}

	async #openMqtt(): Promise<void> {
		const { mqtt, mqttAddress: host, mqttPort: port } = this.#configuration;
		if (!mqtt) {
			return;
		}
		const tls = readTls("mqtt", this.#configuration);
		const guard = this.#guardDevices(host);
		const { authenticate } = guard;
		const options = { host, port, authenticate, ...(tls && { tls }) };
		const listen = () => MqttDevices.listen(this.#gateway.servers, options);
		const { devices, port: actual } = await this.#listen("mqtt", port, listen);
		this.#rechecks.push(() => devices.recheck(guard.currentlyAdmits()));
		this.#closers.push(() => devices.close());
		this.#listeners.mqtt = { scheme: tls ? "mqtts" : "mqtt", address: host, port: actual };
		this.#urls.mqtt = urlAt(tls ? "mqtts" : "mqtt", host, actual);
	}

	/** Tells devices on the local network where the gateway is. */
	#announce(): void {
		const { websocket, mqtt } = this.#listeners;
		const services = describeServices([websocket, mqtt].filter((each) => each !== undefined));
		if (services.length === 0 || !this.#configuration.announce) {
			return;
		}
		const onFailure = ({ message }: Error): void => this.#log.warn(`not announced on the local network: ${message}`);
		const announcer = new Announcer(services, onFailure);
		this.#closers.push(() => announcer.close());
		this.#log.info({ services: services.map(({ name }) => name) }, "announced on the local network");
	}

	async #openBroker(): Promise<void> {
		const { brokerUrl: url, brokerUsername: username, brokerPassword: password, brokerCa } = this.#configuration;
		if (url === undefined) {
			return;
		}
		try {
			const devices = await MqttDevices.connect(this.#gateway.servers, {
				url,
				...(username !== undefined && { username }),
				...(password !== undefined && { password }),
				...(brokerCa !== undefined && { tls: { ca: readPem("brokerCa", brokerCa) } }),
			});
			this.#closers.push(() => devices.close());
		} catch (error) {
			throw new ConfigurationError([`brokerUrl: ${withoutPassword(url)}: ${(error as Error).message}`], {
				cause: error,
			});
		}
	}

	#openEndpoints(): void {
		const { endpoints, endpointMaxBytes: maxBytes, userTools } = this.#configuration;
		for (const url of endpoints) {
			const access = { ...localAccess(userTools), principal: `endpoint ${new URL(url).host}` };
			const onChange = (text: string): void => this.#log.info(text);
			const onerror = ({ message }: Error): void => this.#log.warn(`${access.principal}: ${message}`);
			const endpoint = new Endpoint({
				url,
				maxBytes,
				onChange,
				open: () => openClientServer(this.#gateway, { access, onerror }),
			});
			this.#closers.push(() => endpoint.close());
		}
	}

	/** Disconnects clients and devices whose token was removed. */
	#watchTokens(): void {
		const timer = setInterval(() => {
			this.#tokens.refresh();
			this.#requestGuard.recheck();
			for (const recheck of this.#rechecks) {
				recheck();
			}
		}, TOKEN_CHECK_INTERVAL);
		this.#closers.push(() => clearInterval(timer));
	}

	async #listen<T>(listener: "http" | "websocket" | "mqtt", port: number, listen: () => Promise<T>): Promise<T> {
		try {
			return await listen();
		} catch (error) {
			const { code, message } = error as NodeJS.ErrnoException;
			const name = `${listener}Port` as const;
			const problem =
				code === "EADDRINUSE"
					? `${name}: port ${port} is in use, perhaps by another gateway. Choose another port with ${flagOf(name)}, or ` +
						"use the gateway that is there: xs-mcp-gateway stdio connects an MCP client to it"
					: `${listener}Address, ${name}: ${message}`;
			throw new ConfigurationError([problem], { cause: error });
		}
	}
}
