import { once } from "node:events";
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import { Aedes, type AuthenticateError, type Client } from "aedes";
import type { AuthenticateDevice } from "./credentials.js";
import type { MqttBus, MqttBusEvents } from "./mqtt-bus.js";
import { downTopic, TOPIC_ROOT, upTopic } from "./mqtt-topics.js";
import { PacketLimit } from "./packet-limit.js";

export interface EmbeddedBrokerOptions {
	/** Where to listen. Default: loopback. */
	readonly host?: string;
	/** 0 for a free one. */
	readonly port: number;
	/** Who is let in, by client id, user name and password. Default: every device. */
	readonly authenticate?: AuthenticateDevice;
	/** Key and certificate: the broker then speaks MQTT over TLS. */
	readonly tls?: TlsOptions;
}

/** MQTT 3.1.1 §3.2.2.3: bad user name or password. */
const BAD_CREDENTIALS = 4;

/** A broker of the gateway's own, for its devices alone: each reaches nobody but the gateway. */
export class EmbeddedBroker implements MqttBus {
	readonly #broker: Aedes;
	readonly #server: Server;
	readonly #sockets = new Set<Socket>();
	readonly #clients = new Map<string, Client>();

	private constructor(broker: Aedes, options: EmbeddedBrokerOptions, events: MqttBusEvents) {
		this.#broker = broker;
		const accept = (socket: Socket): void => this.#accept(socket, events);
		this.#server = options.tls ? createTlsServer(options.tls, accept) : createTcpServer(accept);
		this.#server.on("tlsClientError", (error: Error) => events.onRefused(`TLS: ${error.message}`));
		broker.authenticate = (client, user, password, done) => {
			const refused = Object.assign(new Error("bad user name or password"), { returnCode: BAD_CREDENTIALS });
			const allowed = isAllowed(options.authenticate, client.id, user, password);
			done(allowed ? null : (refused as AuthenticateError), allowed);
		};
		broker.authorizePublish = (client, { topic }, done) => {
			const foreign = topic.startsWith(TOPIC_ROOT) && topic !== upTopic(client?.id ?? "");
			done(foreign || topic.startsWith("$SYS/") ? new Error(`${client?.id} may not publish to ${topic}`) : null);
		};
		broker.authorizeSubscribe = (client, subscription, done) => {
			done(null, subscription.topic === downTopic(client.id) ? subscription : null);
		};
		this.#listenTo(events);
	}

	/** Starts a broker. Rejects when the port is taken. */
	static async listen(options: EmbeddedBrokerOptions, events: MqttBusEvents): Promise<EmbeddedBroker> {
		const broker = new EmbeddedBroker(await Aedes.createBroker(), options, events);
		try {
			broker.#server.listen(options.port, options.host ?? "127.0.0.1");
			await once(broker.#server, "listening");
			broker.#server.on("error", (error) => events.onRefused(`listening for devices: ${error.message}`));
		} catch (error) {
			await broker.close();
			throw error;
		}
		return broker;
	}

	get port(): number {
		return (this.#server.address() as AddressInfo).port;
	}

	/** To the client itself: devices exist that do not subscribe. */
	send(clientId: string, text: string): void {
		const packet = {
			cmd: "publish",
			topic: downTopic(clientId),
			payload: text,
			qos: 0,
			dup: false,
			retain: false,
		} as const;
		this.#clients.get(clientId)?.publish(packet, () => {});
	}

	async close(): Promise<void> {
		for (const socket of this.#sockets) {
			socket.destroy();
		}
		await new Promise((resolve) => this.#server.close(resolve));
		await new Promise<void>((resolve) => this.#broker.close(resolve));
	}

	#accept(socket: Socket, events: MqttBusEvents): void {
		this.#sockets.add(socket);
		// A packet is several writes: each would else wait for the acknowledgement of the one before, which takes 40 ms.
		socket.setNoDelay(true);
		socket.on("close", () => this.#sockets.delete(socket));
		socket.on("error", () => socket.destroy());
		const limit = new PacketLimit();
		limit.on("error", (error) => {
			// A connection that was cut breaks the stream too: then nothing was refused.
			if (!socket.destroyed) {
				events.onRefused(`${socket.remoteAddress}: ${error.message}`);
				socket.destroy();
			}
		});
		this.#broker.handle(Duplex.from({ readable: socket.pipe(limit), writable: socket }));
	}

	#listenTo(events: MqttBusEvents): void {
		this.#broker.on("client", (client) => this.#clients.set(client.id, client));
		this.#broker.on("clientDisconnect", (client) => {
			if (this.#clients.get(client.id) === client) {
				this.#clients.delete(client.id);
				events.onGone(client.id);
			}
		});
		this.#broker.on("publish", ({ payload }, client) => {
			if (client !== null) {
				events.onMessage(client.id, payload.toString());
			}
		});
		const refused = (client: Client, error: Error): void => {
			// A connection that was cut is not refused: clientDisconnect tells of it, where it had come that far.
			if (error.name !== "AbortError") {
				events.onRefused(`${client.id}: ${error.message}`);
			}
		};
		this.#broker.on("clientError", refused);
		this.#broker.on("connectionError", refused);
	}
}

function isAllowed(
	authenticate: AuthenticateDevice = () => true,
	deviceId: string,
	username = "",
	password: Uint8Array = Buffer.alloc(0),
): boolean {
	return authenticate({ deviceId, username, secret: Buffer.from(password).toString() });
}
