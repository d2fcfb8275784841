import { createServer as createTcpServer, type Server, type Socket } from "node:net";
import { Duplex, Transform, type TransformCallback } from "node:stream";
import { createServer as createTlsServer } from "node:tls";
import { Aedes, type AedesPublishPacket, type AuthenticateError, type Client, type PublishPacket } from "aedes";
import { listenOn } from "../http/listener.js";
import { type Admission, type AuthenticateDevice, admitAll, type DeviceListenerOptions } from "./admission.js";
import { downTopic, type MqttBusEvents, TOPIC_ROOT, upTopic } from "./mqtt-bus.js";

/** MQTT 3.1.1 §3.2.2.3: bad user name or password. */
const BAD_CREDENTIALS = 4;

/** Most bytes that may wait to be sent to a device. Beyond that it is disconnected. */
const MAX_UNSENT_BYTES = 1024 * 1024;

/** QoS 2 messages of a device that wait for its PUBREL. */
const MAX_UNRELEASED = 16;

/** The newest version of MQTT that Aedes speaks: 3.1.1. */
const NEWEST_VERSION = 4;

/** A client of the broker, and its admission. */
type AdmittedClient = Client & {
	admission?: Admission;
	/** Its CONNECT: Aedes gives a client its id only once it accepts the version. */
	connect?: { readonly clientId: string; readonly version: number };
	/** Local address of its connection. */
	localAddress?: string | undefined;
};

/**
 * Starts the gateway's own broker, only for its devices: a device can reach only the gateway. It stores nothing: no retained
 * messages, and no sessions that outlive a connection. Rejects when the port is taken.
 */
export async function openEmbeddedBroker(options: DeviceListenerOptions, events: MqttBusEvents) {
	const { host = "127.0.0.1", port: wanted, authenticate = admitAll, tls } = options;
	const broker = await Aedes.createBroker({ maxInflightInbound: MAX_UNRELEASED });
	const sockets = new Set<Socket>();
	/** The connected clients by id, as Aedes has them. */
	const { clients } = broker as unknown as { readonly clients: Readonly<Record<string, AdmittedClient>> };
	const clientOf = (id: string): AdmittedClient | undefined => (Object.hasOwn(clients, id) ? clients[id] : undefined);
	const accept = (socket: Socket): void => {
		sockets.add(socket);
		// A packet takes several writes: without this each waits 40 ms for the previous acknowledgement.
		socket.setNoDelay(true);
		socket.on("close", () => sockets.delete(socket));
		socket.on("error", () => socket.destroy());
		const limit = new PacketLimit();
		limit.on("error", (error) => {
			// A cut connection also ends the stream with an error, which is not a rejection.
			if (!socket.destroyed) {
				events.onRejected(`${socket.remoteAddress}: ${error.message}`);
				socket.destroy();
			}
		});
		const stream = Duplex.from({ readable: socket.pipe(limit), writable: socket });
		(broker.handle(stream) as AdmittedClient).localAddress = socket.localAddress;
	};
	const server: Server = tls ? createTlsServer(tls, accept) : createTcpServer(accept);
	server.on("tlsClientError", (error: Error) => events.onRejected(`TLS: ${error.message}`));
	limitClients(broker, authenticate);
	broker.on("clientReady", (client: AdmittedClient) => events.onConnected(client.id, client.admission ?? {}));
	broker.on("clientDisconnect", (client) => {
		const current = clientOf(client.id);
		if (current === undefined || current === client) {
			events.onDisconnected(client.id);
		}
	});
	broker.on("publish", ({ payload }: AedesPublishPacket | PublishPacket, client: AdmittedClient | null) => {
		if (client !== null) {
			events.onMessage(client.id, payload.toString(), client.admission ?? {});
		}
	});
	const rejected = ({ id, connect }: AdmittedClient, error: Error): void => {
		// A connection that was cut was not rejected: if it had been admitted, clientDisconnect is emitted for it.
		if (error.name === "AbortError") {
			return;
		}
		const name = id ?? (connect?.clientId.slice(0, 100) || "a device without a client id");
		const reason =
			connect !== undefined && connect.version > NEWEST_VERSION
				? `MQTT ${connect.version} is not supported: set the device to MQTT 3.1.1, or use a broker with MQTT 5 (brokerUrl)`
				: error.message.slice(0, 200);
		events.onRejected(`${name}: ${reason}`);
	};
	broker.on("clientError", rejected);
	broker.on("connectionError", rejected);
	const close = async (): Promise<void> => {
		for (const socket of sockets) {
			socket.destroy();
		}
		await new Promise((resolve) => server.close(resolve));
		await new Promise<void>((resolve) => broker.close(resolve));
	};
	const onError = ({ message }: Error): void => events.onRejected(`listening for devices: ${message}`);
	const port = await listenOn(server, { host, port: wanted }, onError).catch(async (error: Error) => {
		await close();
		throw error;
	});
	return {
		port,
		/** Sends to the client itself, because some devices do not subscribe. */
		send(clientId: string, text: string): void {
			const client = clientOf(clientId);
			const message = { topic: downTopic(clientId), payload: text, qos: 0, dup: false, retain: false } as const;
			client?.publish({ cmd: "publish", ...message }, () => {});
			const { conn } = (client ?? {}) as { readonly conn?: Duplex };
			if (client !== undefined && conn !== undefined && conn.writableLength > MAX_UNSENT_BYTES) {
				events.onRejected(`${clientId}: disconnected: the device does not read its messages`);
				client.close();
			}
		},
		localAddressOf: (clientId: string) => clientOf(clientId)?.localAddress,
		server,
		/** Disconnects the clients that would no longer be admitted, whether or not they have said hello. */
		recheck(stillAdmits: (admission: Admission) => boolean): void {
			for (const client of Object.values(clients)) {
				if (!stillAdmits(client.admission ?? {})) {
					client.close();
				}
			}
		},
		close,
	};
}

/** Admits devices, and lets each publish and subscribe to its own topics only. */
function limitClients(broker: Aedes, authenticate: AuthenticateDevice): void {
	broker.preConnect = (client: AdmittedClient, packet, done) => {
		client.connect = { clientId: packet.clientId, version: packet.protocolVersion ?? NEWEST_VERSION };
		// A session that outlives its connection would be stored.
		packet.clean = true;
		done(null, true);
	};
	broker.authenticate = (client: AdmittedClient, username = "", password = Buffer.alloc(0), done) => {
		const admission = authenticate({ deviceId: client.id, username, secret: Buffer.from(password).toString() });
		if (typeof admission === "string") {
			const error = Object.assign(new Error(admission), { returnCode: BAD_CREDENTIALS });
			done(error as AuthenticateError, false);
			return;
		}
		client.admission = admission;
		done(null, true);
	};
	broker.authorizePublish = (client, packet, done) => {
		const { topic } = packet;
		if ((topic.startsWith(TOPIC_ROOT) && topic !== upTopic(client?.id ?? "")) || topic.startsWith("$SYS/")) {
			done(new Error(`${client?.id} may not publish to ${topic.slice(0, 100)}`));
			return;
		}
		packet.retain = false;
		// One message in a turn of the event loop: see DeviceConnection.
		setImmediate(() => done(null));
	};
	broker.authorizeSubscribe = (client, subscription, done) => {
		done(null, subscription.topic === downTopic(client.id) ? subscription : null);
	};
}

/** The largest MQTT packet of a device, in bytes. */
const MAX_PACKET_BYTES = 1024 * 1024;

/** MQTT 3.1.1 §2.2.3: a packet's length has at most four bytes of seven bits. */
const MAX_LENGTH_BYTES = 4;

/** Passes MQTT packets on, and ends the stream at one that is too long, before it is read into memory. */
class PacketLimit extends Transform {
	/** Bytes of the present packet that are yet to come. */
	#remaining = 0;
	/** The part of the packet's length that was read; undefined between packets. */
	#length: { value: number; bytes: number } | undefined;

	override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
		let at = 0;
		while (at < chunk.length) {
			if (this.#remaining > 0) {
				const skipped = Math.min(this.#remaining, chunk.length - at);
				this.#remaining -= skipped;
				at += skipped;
			} else if (!this.#readHeader(chunk[at] as number)) {
				done(new Error("MQTT packet too large"));
				return;
			} else {
				at += 1;
			}
		}
		done(null, chunk);
	}

	/** @returns whether the packet may continue */
	#readHeader(byte: number): boolean {
		if (this.#length === undefined) {
			this.#length = { value: 0, bytes: 0 };
			return true;
		}
		this.#length.value += (byte & 0x7f) * 128 ** this.#length.bytes;
		this.#length.bytes += 1;
		if (byte >= 0x80) {
			return this.#length.bytes < MAX_LENGTH_BYTES;
		}
		this.#remaining = this.#length.value;
		this.#length = undefined;
		return this.#remaining <= MAX_PACKET_BYTES;
	}
}
