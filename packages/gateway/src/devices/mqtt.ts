import type { IClientOptions } from "mqtt";
import { isObject } from "xs-mcp-firmware/core/text/json";
import { ServerError, type ServerIdentity, type ServerRegistry } from "xs-mcp-manager/core";
import { deviceIdOf } from "../config/access.js";
import type { Admission, DeviceListenerOptions } from "./admission.js";
import {
	DeviceConnection,
	type DeviceHello,
	type DeviceMessage,
	GATEWAY_HELLO,
	NO_HELLO,
	parseMessage,
	readHello,
} from "./device-connection.js";
import type { FontBundle } from "./font-bundle.js";
import type { MqttBus, MqttBusEvents } from "./mqtt-bus.js";
import type { UdpChannels } from "./udp-channels.js";

/**
 * Milliseconds that a device has for its hello. Some send it only when a conversation starts: they get a session
 * without.
 */
const HELLO_TIMEOUT = 2_000;

/**
 * Accepts devices over MQTT at the gateway's own broker, which is loaded on use. Rejects if the port is in use.
 *
 * @param channels for audio. They are the caller's to close
 */
export async function listenForMqtt(servers: ServerRegistry, options: DeviceListenerOptions, channels: UdpChannels) {
	const { openEmbeddedBroker } = await import("./embedded-broker.js");
	return await acceptDevices(servers, channels, options.fonts, (events) => openEmbeddedBroker(options, events));
}

/** Accepts devices over MQTT at another broker, whose client is loaded on use. Rejects if it cannot be reached. */
export async function connectToMqtt(
	servers: ServerRegistry,
	url: string,
	access: IClientOptions,
	channels: UdpChannels,
	fonts?: FontBundle,
) {
	const { connectBroker } = await import("./external-broker.js");
	return await acceptDevices(servers, channels, fonts, (events) => connectBroker(url, access, events));
}

/** Accepts devices at a broker. A device is identified by its client id. */
async function acceptDevices<Bus extends MqttBus>(
	servers: ServerRegistry,
	channels: UdpChannels,
	fonts: FontBundle | undefined,
	connect: (events: MqttBusEvents) => Promise<Bus>,
): Promise<Bus> {
	/** The sessions, by client id: an MQTT message does not say which connection it came from. */
	const connections = new Map<string, DeviceConnection>();
	/** The clients of the gateway's own broker. */
	const connected = new Set<string>();
	/** The devices whose hello is still expected, by client id. */
	const helloTimers = new Map<string, NodeJS.Timeout>();

	const send = (clientId: string, message: object): void => bus.send(clientId, JSON.stringify(message));

	const stopAwaiting = (clientId: string): void => {
		clearTimeout(helloTimers.get(clientId));
		helloTimers.delete(clientId);
	};
	const stopAwaitingAll = (): void => [...helloTimers.keys()].forEach(stopAwaiting);

	/** MCP needs no hello: a device without one in time still gets a session. */
	const awaitHello = (identity: ServerIdentity): void => {
		const { clientId: id } = identity;
		stopAwaiting(id);
		const startWithoutHello = (): void => {
			helloTimers.delete(id);
			if (!connections.has(id)) {
				servers.connect(openSession(identity, NO_HELLO).connection);
			}
		};
		helloTimers.set(id, setTimeout(startWithoutHello, HELLO_TIMEOUT));
	};

	const answerHello = (identity: ServerIdentity, message: DeviceMessage): void => {
		const { clientId: id } = identity;
		stopAwaiting(id);
		try {
			const { connection, channel } = openSession(identity, readHello(message, fonts));
			// Devices of the family do not accept an answer without a channel for audio.
			const transport = channel === undefined ? { transport: "mqtt" } : { transport: "udp", udp: channel.offer };
			send(id, { ...GATEWAY_HELLO, session_id: connection.sessionId, ...transport });
			servers.connect(connection);
		} catch (error) {
			servers.reject(`${id}: ${(error as Error).message}`);
		}
	};

	/** Starts a session, and ends the previous one. */
	const openSession = (identity: ServerIdentity, hello: DeviceHello) => {
		const { clientId: id } = identity;
		const isGreeted = hello !== NO_HELLO;
		connections.get(id)?.ended("the device has reconnected");
		const onDropped = (reason: string): void => connection.reject(`audio dropped: ${reason}`);
		const channel =
			isGreeted && hello.transport !== "mqtt"
				? channels.open(bus.localAddressOf?.(id), hello.listensOnRequest, onDropped)
				: undefined;
		let isChecking = false;
		const connection: DeviceConnection = new DeviceConnection(identity, hello, {
			// A device that does not know this session's id may use an earlier one.
			isShared: isGreeted,
			audio: hello.playsOpus ? channel?.link : undefined,
			write: (text) => bus.send(id, text),
			disconnect: () => connection.send({ type: "goodbye" }),
			onEnded: () => {
				channel?.close();
				connections.delete(id);
			},
			onGoodbye: (namesSession) => {
				if (namesSession) {
					connection.ended("the device said goodbye");
					// With an external broker, the device's connection state is unknown.
					if (connected.has(id)) {
						awaitHello(identity);
					}
				} else if (!isChecking) {
					isChecking = true;
					void checkPresence(connection).finally(() => {
						isChecking = false;
					});
				}
			},
		});
		connections.set(id, connection);
		return { connection, channel };
	};

	const bus = await connect({
		onConnected(clientId, admission) {
			connected.add(clientId);
			awaitHello(identityOf(clientId, admission));
		},
		onDisconnected(clientId) {
			connected.delete(clientId);
			stopAwaiting(clientId);
			connections.get(clientId)?.ended("the device disconnected from the broker");
		},
		onBrokerLost(reason) {
			stopAwaitingAll();
			for (const connection of [...connections.values()]) {
				connection.ended(reason);
			}
		},
		onRejected: (description) => servers.reject(description),
		onMessage(clientId, text, admission) {
			let message: DeviceMessage;
			try {
				message = parseMessage(text);
			} catch (error) {
				servers.reject(`${clientId}: message dropped: ${(error as Error).message}`);
				return;
			}
			const connection = connections.get(clientId);
			const { type, payload } = message;
			// A goodbye or a response without a session belongs to one that the device has ended.
			const isLate = type === "goodbye" || (type === "mcp" && isObject(payload) && !("method" in payload));
			if (message.type === "hello") {
				answerHello(identityOf(clientId, admission), message);
			} else if (connection !== undefined) {
				connection.receive(message);
			} else if (!isLate && !helloTimers.has(clientId)) {
				// The device believes to be in a session that this gateway does not know, so it has to start a new one.
				const { session_id } = message;
				send(clientId, { type: "goodbye", session_id });
				awaitHello(identityOf(clientId, admission));
			}
		},
	});
	return {
		...bus,
		/** Says goodbye to every device and disconnects from the broker. */
		async close(): Promise<void> {
			for (const connection of [...connections.values()]) {
				connection.close("the gateway is shutting down");
			}
			await bus.close();
			stopAwaitingAll();
		},
	};
}

function identityOf(clientId: string, admission: Admission): ServerIdentity {
	return { id: deviceIdOf(clientId), clientId, transport: "mqtt", ...admission };
}

/** Milliseconds that a device has to answer a ping in its session. */
const PRESENCE_TIMEOUT = 3_000;

/**
 * Ends a session unless its device answers a ping. A goodbye without a session id is the last will, which a broker sends for a
 * device that has disconnected. It may be late, after the device has reconnected.
 */
async function checkPresence(connection: DeviceConnection): Promise<void> {
	try {
		await connection.ping(PRESENCE_TIMEOUT);
	} catch (error) {
		// A device that answers with an error is still there.
		if (error instanceof ServerError && error.code === "timeout") {
			connection.ended("the device has disconnected");
		}
	}
}
