import { McpEndpoint } from "./clients/http-endpoint.js";
import { ConfigurationError } from "./config/configuration.js";
import { isLoopback, urlAt } from "./config/listen-address.js";
import { type Configuration, flagOf, type SettingName } from "./config/settings.js";
import { readPem, readTls } from "./config/tls-files.js";
import { type TokenKind, TokenStore } from "./config/token-store.js";
import { DeviceGuard } from "./devices/guard.js";
import { MqttDevices } from "./devices/mqtt.js";
import { WebSocketDevices } from "./devices/websocket.js";
import { GatewayEvents } from "./events.js";
import { Gateway } from "./gateway.js";
import { createApp } from "./http/app.js";
import { RequestGuard } from "./http/auth.js";
import { RejectionReport } from "./http/rejections.js";
import { HttpServer } from "./http/server.js";
import type { Logger } from "./log.js";
import { Metrics } from "./metrics.js";
import { DeviceHub } from "./servers/device-hub.js";

/** Milliseconds between looks at whether tokens were added or removed. */
const TOKEN_CHECK_INTERVAL = 1_000;

/** A gateway with everything that its configuration asks for. */
export class GatewayProgram {
	readonly #configuration: Configuration;
	readonly #log: Logger;
	readonly #tokens: TokenStore;
	readonly #hub = new DeviceHub();
	readonly #urls: { hosts?: string; websocket?: string; mqtt?: string } = {};
	readonly #guards: DeviceGuard[] = [];
	/** What to undo, last first. */
	readonly #closers: (() => Promise<void> | void)[] = [];
	#gateway!: Gateway;
	#endpoint: McpEndpoint | undefined;
	#metrics!: Metrics;
	#requestGuard!: RequestGuard;

	private constructor(configuration: Configuration, log: Logger) {
		this.#configuration = configuration;
		this.#log = log;
		this.#tokens = new TokenStore(configuration.stateFolder, (error) => log.error(error.message));
	}

	/**
	 * Starts it. Rejects with ConfigurationError when it would be open to strangers, a file cannot be read or a port is
	 * taken, and with TokenError when the file of tokens is damaged. Then nothing is left running.
	 */
	static async start(configuration: Configuration, log: Logger): Promise<GatewayProgram> {
		const program = new GatewayProgram(configuration, log);
		program.#checkExposure();
		try {
			await program.#open();
		} catch (error) {
			await program.close();
			throw error;
		}
		return program;
	}

	/** For whoever serves hosts in another way than HTTP. */
	get gateway(): Gateway {
		return this.#gateway;
	}

	/** Where hosts and devices come in. */
	get urls(): Readonly<{ hosts?: string; websocket?: string; mqtt?: string }> {
		return this.#urls;
	}

	/** Ends every session, stops listening, and settles when everything is on disk. */
	async close(): Promise<void> {
		// Hosts first: they shall not see their devices go one by one.
		await this.#endpoint?.close();
		for (let close = this.#closers.pop(); close !== undefined; close = this.#closers.pop()) {
			await close();
		}
	}

	/** A place that others than this machine's programs reach wants tokens. */
	#checkExposure(): void {
		const { httpAddress, websocket, websocketAddress, mqtt, mqttAddress } = this.#configuration;
		const problems = [
			...this.#exposed("httpAddress", httpAddress, "host"),
			...(websocket ? this.#exposed("websocketAddress", websocketAddress, "device") : []),
			...(mqtt ? this.#exposed("mqttAddress", mqttAddress, "device") : []),
		];
		if (problems.length > 0) {
			throw new ConfigurationError(problems);
		}
	}

	#exposed(name: SettingName, address: string, kind: TokenKind): string[] {
		return isLoopback(address) || this.#tokens.has(kind)
			? []
			: [
					`${name} ${address}: everyone in the network could use the gateway, since there is no token for ${kind}s. ` +
						`Make one first: xs-mcp-gateway token add NAME --for ${kind}. Or listen on loopback: ${flagOf(name)} 127.0.0.1`,
				];
	}

	async #open(): Promise<void> {
		const hub = this.#hub;
		this.#gateway = await this.#openGateway();
		this.#closers.push(() => this.#gateway.close());
		this.#closers.push(() => hub.close());
		await this.#openHttp();
		hub.on("refused", (description) => {
			this.#metrics.deviceRejected();
			this.#log.warn(`refused: ${description}`);
		});
		await this.#openWebSocket();
		await this.#openMqtt();
		await this.#openBroker();
		this.#watchTokens();
	}

	async #openGateway(): Promise<Gateway> {
		try {
			return await Gateway.open(this.#hub, this.#configuration, (message) => this.#log.warn(message));
		} catch (error) {
			const name = error instanceof RangeError ? "aliases" : `stateFolder ${this.#configuration.stateFolder}`;
			throw new ConfigurationError([`${name}: ${(error as Error).message}`], { cause: error });
		}
	}

	async #openHttp(): Promise<void> {
		const { httpAddress: address, httpPort: port } = this.#configuration;
		const endpoint = new McpEndpoint(this.#gateway, this.#configuration);
		this.#endpoint = endpoint;
		const events = new GatewayEvents(this.#hub, this.#gateway);
		const devices = this.#gateway.devices;
		this.#metrics = new Metrics({
			devicesConnected: () => this.#hub.devices.length,
			devicesKnown: () => devices.all.length,
			sessions: () => endpoint.sessions,
		});
		this.#gateway.on("call", ({ outcome, duration }) => this.#metrics.called(outcome, duration));
		events.on("event", (event) => this.#log.debug(event, event.type));
		const tls = readTls("http", this.#configuration);
		const guard = new RequestGuard({ ...this.#configuration, address, tokens: this.#tokens });
		this.#requestGuard = guard;
		const metrics = this.#metrics;
		const rejections = new RejectionReport({ log: this.#log, metrics });
		const { bodyTimeout, maxBodyBytes } = this.#configuration;
		const app = createApp({ endpoint, devices, events, metrics, guard, rejections, maxBodyBytes });
		const options = { app, address, port, bodyTimeout, rejections, log: this.#log, ...(tls && { tls }) };
		const server = new HttpServer(options);
		const actual = await this.#listen("http", port, () => server.listen());
		this.#closers.push(() => server.close());
		this.#urls.hosts = `${urlAt(tls ? "https" : "http", address, actual)}/mcp`;
	}

	async #openWebSocket(): Promise<void> {
		const { websocket, websocketAddress: host, websocketPort: port } = this.#configuration;
		if (!websocket) {
			return;
		}
		const tls = readTls("websocket", this.#configuration);
		const { authenticate } = this.#guard(host);
		const devices = new WebSocketDevices(this.#hub, { host, port, authenticate, ...(tls && { tls }) });
		const actual = await this.#listen("websocket", port, () => devices.listen());
		this.#closers.push(() => devices.close());
		this.#urls.websocket = `${urlAt(tls ? "wss" : "ws", host, actual)}/`;
	}

	async #openMqtt(): Promise<void> {
		const { mqtt, mqttAddress: host, mqttPort: port } = this.#configuration;
		if (!mqtt) {
			return;
		}
		const tls = readTls("mqtt", this.#configuration);
		const { authenticate } = this.#guard(host);
		const options = { host, port, authenticate, ...(tls && { tls }) };
		const { devices, port: actual } = await this.#listen("mqtt", port, () => MqttDevices.listen(this.#hub, options));
		this.#closers.push(() => devices.close());
		this.#urls.mqtt = urlAt(tls ? "mqtts" : "mqtt", host, actual);
	}

	async #openBroker(): Promise<void> {
		const { brokerUrl: url, brokerUsername: username, brokerPassword: password, brokerCa } = this.#configuration;
		if (url === undefined) {
			return;
		}
		try {
			const devices = await MqttDevices.connect(this.#hub, {
				url,
				...(username !== undefined && { username }),
				...(password !== undefined && { password }),
				...(brokerCa !== undefined && { tls: { ca: readPem("brokerCa", brokerCa) } }),
			});
			this.#closers.push(() => devices.close());
		} catch (error) {
			throw new ConfigurationError([`brokerUrl: ${url}: ${(error as Error).message}`], { cause: error });
		}
	}

	#guard(address: string): DeviceGuard {
		const guard = new DeviceGuard(address, this.#tokens);
		this.#guards.push(guard);
		return guard;
	}

	/** Those whose token is gone do not stay. */
	#watchTokens(): void {
		const timer = setInterval(() => {
			this.#tokens.refresh();
			this.#requestGuard.recheck();
			for (const guard of this.#guards) {
				guard.recheck(this.#hub);
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
					? `${name}: port ${port} is taken, perhaps by another gateway. Choose another port with ${flagOf(name)}, or ` +
						"use the gateway that is there: xs-mcp-gateway stdio brings a host to it"
					: `${listener}Address, ${name}: ${message}`;
			throw new ConfigurationError([problem], { cause: error });
		}
	}
}
