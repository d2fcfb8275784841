import type { IncomingMessage } from "node:http";
import type { ServerRegistry } from "xs-mcp-manager/core";
import { ConfigurationError } from "../config/configuration.js";
import { urlAt } from "../config/listen-address.js";
import { withoutPassword } from "../config/setting-kinds.js";
import { readPem, TlsFiles } from "../config/tls-files.js";
import { DeviceGuard } from "../devices/admission.js";
import { Announcer, type DeviceListener, describeServices } from "../devices/announcement.js";
import type { BootstrapRoutesOptions } from "../devices/bootstrap/bootstrap-routes.js";
import { DeviceBindings, type PendingBinding } from "../devices/bootstrap/device-bindings.js";
import { DeviceKey } from "../devices/device-key.js";
import { FirmwareFolder } from "../devices/firmware/firmware-folder.js";
import { FirmwareOffers } from "../devices/firmware/firmware-offers.js";
import { MqttDevices } from "../devices/mqtt.js";
import { UdpChannels } from "../devices/udp-channels.js";
import { WebSocketDevices } from "../devices/websocket.js";
import { RequestLimits } from "../http/limits.js";
import type { RejectionReport } from "../http/rejections.js";
import { makeListener } from "../http/server.js";
import { SourceCheck } from "../http/source-check.js";
import { listenAt, type ProgramContext, renewTls } from "./context.js";
import { createDeviceServerApp, type DeviceAppOptions } from "./device-app.js";
import type { Core } from "./open-core.js";

/** The client side, as the routes for devices use it. */
interface RouteOptions {
	readonly rejections: RejectionReport;
	/** The network address of a request. */
	readonly addressOf: (request: IncomingMessage) => string;
}

/** The side of devices: WebSocket, MQTT, another broker, HTTP routes, and the announcement of all these. */
export class DeviceSide {
	readonly bindings: DeviceBindings;
	readonly #context: ProgramContext;
	readonly #core: Core;
	readonly #key: DeviceKey;
	readonly #guards: DeviceGuard[] = [];
	/** Of devices over MQTT. */
	#channels: Promise<UdpChannels> | undefined;
	/** Where the gateway listens for devices. */
	readonly #listeners: { websocket?: DeviceListener; mqtt?: DeviceListener } = {};
	/** Disconnect the devices that would no longer be admitted, and use certificates that were renewed. */
	readonly #rechecks: (() => void)[] = [];

	constructor(context: ProgramContext, core: Core) {
		this.#context = context;
		this.#core = core;
		const { configuration, tokens, shortLived: store, log } = context;
		const { bootstrap: mode, maxDevices, stateFolder } = configuration;
		const onPending = ({ code, deviceId, board, address }: PendingBinding): void =>
			log.info(
				{ device: deviceId, board, address },
				`a new device awaits approval; run: xs-mcp-gateway devices approve ${code}`,
			);
		this.#key = new DeviceKey(stateFolder);
		this.bindings = new DeviceBindings({ mode, tokens, key: this.#key, maxDevices, store, onPending });
	}

	/** The HTTP routes for devices: on the port of clients, and on that of WebSockets. */
	routes({ rejections, addressOf }: RouteOptions): DeviceAppOptions {
		const { configuration, log } = this.#context;
		const { maxPictureBytes, visionUrl: url, visionModel: model, visionKey: key } = configuration;
		const visionModel = url && model ? { url, model, key } : undefined;
		const common = { limits: new RequestLimits(configuration), addressOf, log };
		const bootstrap = this.#bootstrapRoutes(common);
		const { pictures, speech } = this.#core;
		return { ...common, pictures, speech: speech?.speech, maxPictureBytes, visionModel, rejections, bootstrap };
	}

	/** Accepts devices over WebSocket and at the own MQTT broker. Rejects with ConfigurationError. */
	async listen(routes: DeviceAppOptions): Promise<void> {
		const { servers } = this.#core.gateway;
		await this.#openWebSocket(servers, routes);
		await this.#openMqtt(servers);
	}

	/** Connects to a broker of others, and announces the gateway. */
	async connect(): Promise<void> {
		await this.#openBroker(this.#core.gateway.servers);
		await this.#announce();
	}

	/** Disconnects devices whose token was removed, and uses certificates that were renewed. */
	recheck(): void {
		for (const recheck of this.#rechecks) {
			recheck();
		}
	}

	#bootstrapRoutes(common: Pick<BootstrapRoutesOptions, "limits" | "addressOf" | "log">): BootstrapRoutesOptions {
		const { updates } = this.#core.gateway;
		const key = this.#key;
		const { httpAddress, websocketAddress, mqttAddress, publicUrl, firmwareFolder, ...rest } =
			this.#context.configuration;
		const publicHosts = publicUrl === undefined ? [] : [new URL(publicUrl).hostname];
		const allowedHosts = [...rest.allowedHosts, ...publicHosts];
		return {
			...common,
			bindings: this.bindings,
			key,
			updates,
			source: new SourceCheck([httpAddress, websocketAddress, mqttAddress], { ...rest, allowedHosts }),
			needsBinding: () => rest.bootstrap !== "open" || this.#guards.some(({ needsToken }) => needsToken),
			deviceAddresses: () => ({
				websocket: rest.websocketUrl ?? this.#listeners.websocket,
				mqtt: rest.mqttEndpoint ?? this.#listeners.mqtt,
			}),
			publicUrl,
			firmware: new FirmwareOffers(
				firmwareFolder === undefined ? undefined : new FirmwareFolder(firmwareFolder),
				key,
				updates,
			),
		};
	}

	#guard(address: string): DeviceGuard {
		const { tokens, configuration } = this.#context;
		const guard = new DeviceGuard(address, tokens, configuration.bootstrap === "approve");
		this.#guards.push(guard);
		return guard;
	}

	async #openWebSocket(servers: ServerRegistry, routes: DeviceAppOptions): Promise<void> {
		const { configuration, log, urls, onClose } = this.#context;
		const { websocket, websocketAddress: host, websocketPort: port, allowedOrigins } = configuration;
		if (!websocket) {
			return;
		}
		const files = TlsFiles.of("websocket", configuration);
		const tls = files?.options;
		const guard = this.#guard(host);
		const devices = new WebSocketDevices(servers, {
			host,
			port,
			authenticate: guard.authenticate,
			allowedOrigins,
			onRequest: makeListener({ app: createDeviceServerApp(routes), rejections: routes.rejections }),
			...(tls && { tls }),
		});
		this.#rechecks.push(
			() => devices.recheck(guard.currentlyAdmits()),
			() => renewTls(files, devices, log),
		);
		const actual = await listenAt("websocket", port, () => devices.listen());
		onClose(() => devices.close());
		this.#listeners.websocket = { scheme: tls ? "wss" : "ws", address: host, port: actual };
		urls.websocket = `${urlAt(tls ? "wss" : "ws", host, actual)}/`;
	}

	async #openMqtt(servers: ServerRegistry): Promise<void> {
		const { configuration, log, urls, onClose } = this.#context;
		const { mqtt, mqttAddress: host, mqttPort: port } = configuration;
		if (!mqtt) {
			return;
		}
		const files = TlsFiles.of("mqtt", configuration);
		const tls = files?.options;
		const guard = this.#guard(host);
		const options = { host, port, authenticate: guard.authenticate, ...(tls && { tls }) };
		const channels = await this.#openChannels(servers);
		const { devices, port: actual } = await listenAt("mqtt", port, () =>
			MqttDevices.listen(servers, options, channels),
		);
		this.#rechecks.push(
			() => devices.recheck(guard.currentlyAdmits()),
			() => renewTls(files, devices, log),
		);
		onClose(() => devices.close());
		this.#listeners.mqtt = { scheme: tls ? "mqtts" : "mqtt", address: host, port: actual };
		urls.mqtt = urlAt(tls ? "mqtts" : "mqtt", host, actual);
	}

	async #openBroker(servers: ServerRegistry): Promise<void> {
		const { configuration, onClose } = this.#context;
		const { brokerUrl: url, brokerUsername: username, brokerPassword: password, brokerCa } = configuration;
		if (url === undefined) {
			return;
		}
		const channels = await this.#openChannels(servers);
		const tls = brokerCa !== undefined && { tls: { ca: readPem("brokerCa", brokerCa) } };
		try {
			const credentials = { ...(username !== undefined && { username }), ...(password !== undefined && { password }) };
			const devices = await MqttDevices.connect(servers, { url, ...credentials, ...tls }, channels);
			onClose(() => devices.close());
		} catch (error) {
			throw new ConfigurationError([`brokerUrl: ${withoutPassword(url)}: ${(error as Error).message}`], {
				cause: error,
			});
		}
	}

	/** The audio of devices over MQTT, with either broker. */
	#openChannels(servers: ServerRegistry): Promise<UdpChannels> {
		const { configuration, onClose } = this.#context;
		const { mqttAddress, udpAddress: host = mqttAddress, udpPort: port, udpEndpoint: endpoint } = configuration;
		this.#channels ??= listenAt("udp", port, async () => {
			const channels = await UdpChannels.listen(servers, { host, port, endpoint });
			onClose(() => channels.close());
			return channels;
		});
		return this.#channels;
	}

	/** Announces to devices on the local network where the gateway is. */
	async #announce(): Promise<void> {
		const { configuration, log, onClose } = this.#context;
		const { websocket, mqtt } = this.#listeners;
		const services = describeServices([websocket, mqtt].filter((each) => each !== undefined));
		if (services.length === 0 || !configuration.announce) {
			return;
		}
		const onFailure = ({ message }: Error): void => log.warn(`cannot announce on the local network: ${message}`);
		const announcer = await Announcer.open(services, onFailure);
		onClose(() => announcer.close());
		log.info({ services: services.map(({ name }) => name) }, "announced on the local network");
	}
}
