import { randomBytes } from "node:crypto";
import mqtt from "mqtt";
import { isObject } from "xs-mcp-firmware/core/text/json";
import { backoff, readMessage, type ServerRegistry } from "xs-mcp-manager/core";
import { DeviceConnection, NO_HELLO } from "./device-connection.js";

/** Most servers that are online at the same time. Each one has a connection to the broker. */
const MAX_SERVERS = 1_000;

/** Longest id and name of a server, in characters. */
const MAX_PATH = 256;

/** Largest packet that the broker may send. */
const MAX_PACKET_BYTES = 1024 * 1024;

/** Delays after a session with a server, ms. They grow while its lists cannot be read. */
const RETRIES = { initialDelay: 1_000, maxDelay: 60_000 };

const PRESENCE = "$mcp-server/presence/";

const DISCONNECTED = "notifications/disconnected";

/** Notifications on a server's capability topic, to which others may be allowed to publish. */
const CHANGES = /^notifications\/((tools|resources|prompts)\/list_changed|resources\/updated)$/;

/** A running instance of a server. */
interface Instance {
	readonly id: string;
	readonly name: string;
	/** The end of its topics: ID/NAME. */
	readonly path: string;
}

/**
 * Connects to the servers of MCP over MQTT at a broker (EMQX's specification 2025-03-26, basic/mqtt_transport). A server's name is
 * its identity; of several instances with one name, one is used. Rejects if the broker has no MQTT 5, or does not show the servers.
 *
 * @param access user name, password and certificates
 * @returns closes every connection
 */
export async function connectToMcpServers(
	servers: ServerRegistry,
	url: string,
	access: object,
): Promise<() => Promise<void>> {
	/** Instances by path. The first one of a name is used. */
	const online = new Map<string, Instance>();
	/** Connections by name. One that has ended stays until the next attempt, which announcements do not hasten. */
	const connections = new Map<string, DeviceConnection>();
	let isClosed = false;

	/** Connects to an instance of a server, unless the server has a connection. `failures` are sessions in a row without lists. */
	const connectInstance = (name: string, failures = 0): void => {
		const instance = [...online.values()].find((each) => each.name === name);
		if (instance === undefined || connections.has(name) || isClosed) {
			return;
		}
		const onEnded = (): void => {
			const failed = connection.server?.isListed ? 0 : failures + 1;
			// Other instances come first.
			if (online.delete(instance.path)) {
				online.set(instance.path, instance);
			}
			const retry = (): void => {
				connections.delete(name);
				connectInstance(name, failed);
			};
			setTimeout(retry, backoff(RETRIES, failed)).unref();
		};
		const onDisconnected = (): void => endSession(instance, "the server has disconnected");
		const connection = openConnection(servers, url, access, instance, onEnded, onDisconnected);
		connections.set(name, connection);
	};

	/** Ends the session with an instance that is not online any more. */
	const endSession = ({ id, name, path }: Instance, reason: string): void => {
		online.delete(path);
		const connection = connections.get(name);
		if (connection?.identity.clientId === id) {
			connection.close(reason);
		}
	};

	const onPresence = (path: string, text: string, isRetained: boolean): void => {
		const at = path.indexOf("/");
		const [id, name] = [path.slice(0, at), path.slice(at + 1)];
		if (at < 1 || name === "" || path.length > MAX_PATH) {
			throw new RangeError(`expected ID/NAME of at most ${MAX_PATH} characters`);
		}
		// Its control topic would be another topic of the specification.
		if (id === "presence" || id === "capability") {
			throw new RangeError(`expected another id than ${id}`);
		}
		if (text === "") {
			endSession({ id, name, path }, "the server has gone offline");
			return;
		}
		const message = readMessage(JSON.parse(text));
		if (!("method" in message) || message.method !== "notifications/server/online") {
			throw new TypeError("expected notifications/server/online");
		}
		if (!isRetained) {
			// It has lost its session. A retained message may be older.
			endSession({ id, name, path }, "the server has started again");
		}
		if (!online.has(path) && online.size >= MAX_SERVERS) {
			throw new RangeError(`more than ${MAX_SERVERS} servers`);
		}
		online.set(path, { id, name, path });
		connectInstance(name);
	};

	const watcher = await mqtt.connectAsync(url, { ...access, ...optionsFor(makeClientId()) }, false);
	// Presence changes are missed while disconnected. The broker retains who is online, and sends it again.
	watcher.on("close", () => {
		const instances = [...online.values()];
		online.clear();
		for (const instance of instances) {
			endSession(instance, "the connection to the broker is lost");
		}
	});
	// It reconnects. The other connection to the broker reports the error.
	watcher.on("error", () => {});
	watcher.handleMessage = ({ topic, payload, retain }, done) => {
		try {
			onPresence(topic.slice(PRESENCE.length), payload.toString(), retain);
		} catch (error) {
			servers.reject(`${topic}: dropped: ${(error as Error).message}`);
		}
		setImmediate(done);
	};
	const close = async (): Promise<void> => {
		isClosed = true;
		for (const connection of connections.values()) {
			connection.close("the gateway is shutting down");
		}
		await watcher.endAsync();
	};
	try {
		await watcher.subscribeAsync(`${PRESENCE}+/#`);
	} catch (error) {
		await close();
		throw error;
	}
	return close;
}

/** @param onDisconnected called when the server ends the session. `onEnded` is called at any end. */
function openConnection(
	servers: ServerRegistry,
	url: string,
	access: object,
	{ id, name, path }: Instance,
	onEnded: () => void,
	onDisconnected: () => void,
): DeviceConnection {
	// The specification demands another id for each initialization. Firmware has room for short topics only.
	const clientId = makeClientId();
	const options = optionsFor(clientId);
	const { userProperties } = options.properties;
	const [rpc, presence] = [`$mcp-rpc/${clientId}/${path}`, `$mcp-client/presence/${clientId}`];
	const farewell = JSON.stringify({ jsonrpc: "2.0", method: DISCONNECTED });
	const will = { topic: presence, payload: Buffer.from(farewell), qos: 0, retain: false } as const;
	const client = mqtt.connect(url, { ...access, ...options, reconnectPeriod: 0, will });
	const publish = (to: string, text: string): void => void client.publish(to, text, { properties: { userProperties } });
	// The first message is `initialize`.
	let topic = `$mcp-server/${path}`;
	const connection = new DeviceConnection({ id: `mcp/${name}`, clientId: id, transport: "mqtt" }, NO_HELLO, {
		isBare: true,
		write: (text) => {
			publish(topic, text);
			topic = rpc;
		},
		disconnect: () => publish(presence, farewell),
		onEnded: () => {
			// Before CONNACK, it would connect all the same.
			client.end(!client.connected);
			onEnded();
		},
	});
	const fail = (reason: string): void => {
		if (connection.server === undefined && connection.isOpen) {
			servers.reject(`mcp/${name}: ${reason}`);
		}
		connection.ended(reason);
	};
	client.on("error", ({ message }) => fail(`broker: ${message}`));
	client.on("close", () => fail("the connection to the broker is lost"));
	client.on("connect", () => {
		const topics = { [rpc]: { qos: 0, nl: true }, [`$mcp-server/capability/${path}`]: { qos: 0 } } as const;
		client.subscribe(topics, (error) => {
			if (error) {
				fail(`broker: ${error.message}`);
			} else if (connection.isOpen) {
				servers.connect(connection);
			}
		});
	});
	client.handleMessage = ({ topic: from, payload }, done) => {
		// Messages that were read before the end of the session come after it.
		if (!connection.isOpen) {
			done();
			return;
		}
		try {
			const message: unknown = JSON.parse(payload.toString());
			const method = isObject(message) ? message.method : undefined;
			if (from !== rpc && !CHANGES.test(String(method))) {
				throw new TypeError("expected a change of its lists");
			}
			if (method === DISCONNECTED) {
				onDisconnected();
			} else {
				connection.receive({ type: "mcp", payload: message });
			}
		} catch (error) {
			connection.reject(`message dropped: ${(error as Error).message}`);
		}
		// One message in a turn of the event loop: see DeviceConnection.
		setImmediate(done);
	};
	return connection;
}

function makeClientId(): string {
	return randomBytes(8).toString("hex");
}

/** Returns the options and user properties that the specification demands in CONNECT. */
function optionsFor(clientId: string) {
	return {
		clientId,
		protocolVersion: 5,
		properties: {
			sessionExpiryInterval: 0,
			maximumPacketSize: MAX_PACKET_BYTES,
			userProperties: { "MCP-COMPONENT-TYPE": "mcp-client", "MCP-META": "{}", "MCP-MQTT-CLIENT-ID": clientId },
		},
	} as const;
}
