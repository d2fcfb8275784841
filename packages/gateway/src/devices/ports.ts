import type { Server as NetServer } from "node:net";
import { Hono } from "hono";
import { present } from "xs-mcp-manager/core";
import { listenAt, readPem, readTlsFiles, urlAt } from "../config/listen-address.js";
import type { RunningGateway } from "../gateway.js";
import { GatewayError } from "../gateway-error.js";
import { makeRequestListener } from "../http/listener.js";
import { deviceBody } from "../http/rejections.js";
import { type HttpEnv, setHeaders } from "../http/route.js";
import { ConfigurationError, withoutPassword } from "../plugin.js";
import { clients } from "../transports/plugin.js";
import { type Admission, type DeviceGuard, makeDeviceGuard } from "./admission.js";
import { announce, describeServices } from "./announcement.js";
import { openFontBundle } from "./font-bundle.js";
import { connectToMqtt, listenForMqtt } from "./mqtt.js";
import type { DeviceListener, DevicePorts } from "./plugin.js";
import { openUdpChannels, type UdpChannels } from "./udp-channels.js";
import { listenForWebSocket } from "./websocket.js";

/** Accepts devices over WebSocket and at the gateway's own MQTT broker. */
interface DeviceServer {
	readonly port: number;
	recheck(stillAdmits: (admission: Admission) => boolean): void;
	readonly server: NetServer;
	close(): Promise<void>;
}

/** Accepts devices as soon as the gateway listens, then connects to a broker of others and announces the gateway. */
export function openPorts(gateway: RunningGateway): DevicePorts {
	const { settings, log, servers, tokens, urls } = gateway;
	const guards: DeviceGuard[] = [];
	const listeners: DevicePorts["listeners"] = {};
	const { fontFolder } = settings;
	const fonts = fontFolder === undefined ? undefined : openFontBundle(fontFolder, (problem) => log.warn(problem));

	/** Opens the port of a transport, with its guard. */
	const openPort = async (
		transport: "websocket" | "mqtt",
		host: string,
		wanted: number,
		listen: (options: Parameters<typeof listenForMqtt>[1]) => Promise<DeviceServer>,
	): Promise<void> => {
		const files = readTlsFiles(transport, settings);
		const tls = files?.options;
		const guard = makeDeviceGuard(host, tokens, settings.bootstrap === "approve");
		guards.push(guard);
		const options = { host, port: wanted, authenticate: guard.authenticate, fonts, ...(tls && { tls }) };
		const server = await listenAt(transport, wanted, () => listen(options));
		gateway.on("tick", () => server.recheck(guard.stillAdmits));
		gateway.on("tick", () => files?.renew(server.server, log));
		gateway.on("close", () => server.close());
		const [plain, end] = transport === "websocket" ? ["ws", "/"] : ["mqtt", ""];
		const scheme = tls ? `${plain}s` : plain;
		listeners[transport] = { scheme, address: host, port: server.port };
		urls[transport] = `${urlAt(scheme, host, server.port)}${end}`;
	};
	let channels: Promise<UdpChannels> | undefined;
	/** Opens the audio of devices over MQTT, with either broker. */
	const openChannels = (): Promise<UdpChannels> => {
		const { mqttAddress, udpAddress: host = mqttAddress, udpPort: port, udpEndpoint: endpoint } = settings;
		channels ??= listenAt("udp", port, async () => {
			const opened = await openUdpChannels(servers, host, port, endpoint);
			gateway.on("close", () => opened.close());
			return opened;
		});
		return channels;
	};

	const connectToBroker = async (url: string): Promise<void> => {
		const { brokerUsername: username, brokerPassword: password, brokerCa } = settings;
		const audio = await openChannels();
		const access = present({ username, password, ca: brokerCa && readPem("brokerCa", brokerCa) });
		const devices = await connectToMqtt(servers, url, access, audio, fonts).catch((error: Error) => {
			throw new ConfigurationError([`brokerUrl: ${withoutPassword(url)}: ${error.message}`], { cause: error });
		});
		gateway.on("close", () => devices.close());
		if (!settings.mcpOverMqtt) {
			return;
		}
		const { connectToMcpServers } = await import("./mcp-over-mqtt.js");
		try {
			gateway.on("close", await connectToMcpServers(servers, url, access));
		} catch (error) {
			log.warn(`mcpOverMqtt: not available until the gateway starts again: ${(error as Error).message}`);
		}
	};

	/** Returns where the gateway serves clients, if it does. */
	const findClientListener = (): DeviceListener | undefined => {
		if (urls.clients === undefined) {
			return undefined;
		}
		const { protocol, port } = new URL(urls.clients);
		const scheme = protocol.slice(0, -1);
		return { scheme, address: settings.httpAddress, port: Number(port || (scheme === "https" ? 443 : 80)) };
	};

	/** Announces to devices and clients on the local network where the gateway is. */
	const announceGateway = async (): Promise<void> => {
		const all = [listeners.websocket, listeners.mqtt, findClientListener()];
		const services = describeServices(all.filter((each) => each !== undefined));
		if (services.length === 0) {
			return;
		}
		const onFailure = ({ message }: Error): void => log.warn(`cannot announce on the local network: ${message}`);
		gateway.on("close", await announce(services, onFailure));
		log.info({ services: services.map(({ name }) => name) }, "announced on the local network");
	};

	const { websocket, mqtt, brokerUrl } = settings;
	if (websocket) {
		const { websocketAddress, websocketPort, allowedOrigins } = settings;
		gateway.on("listen", async () => {
			const onRequest = makeRequestListener(createDeviceApp(gateway), gateway.use(clients).rejections);
			await openPort("websocket", websocketAddress, websocketPort, (options) =>
				listenForWebSocket(servers, { ...options, allowedOrigins, onRequest }),
			);
		});
	}
	if (mqtt) {
		const { mqttAddress, mqttPort } = settings;
		gateway.on("listen", async () => {
			const audio = await openChannels();
			await openPort("mqtt", mqttAddress, mqttPort, (options) => listenForMqtt(servers, options, audio));
		});
	}
	if (brokerUrl !== undefined) {
		gateway.on("started", () => connectToBroker(brokerUrl));
	}
	if (settings.announce) {
		gateway.on("started", announceGateway);
	}
	return { guards, listeners };
}

/** Serves the routes for devices on the port at which they open their WebSockets: they know its address. */
function createDeviceApp(gateway: RunningGateway): Hono<HttpEnv> {
	const app = new Hono<HttpEnv>();
	app.use(setHeaders);
	app.route("/", gateway.deviceRoutes);
	app.onError((error, c) => gateway.use(clients).rejections.answer(error, c, deviceBody));
	app.notFound(() => {
		const headers = { Upgrade: "websocket" };
		throw new GatewayError("upgrade-required", "upgrade required: this port speaks WebSocket only", { headers });
	});
	return app;
}
