import { addAbortListener } from "node:events";
import { DeliverPolicy, JetStreamApiError, jetstream, jetstreamManager, StorageType } from "@nats-io/jetstream";
import { type NatsConnection, nanos } from "@nats-io/transport-node";
import { MAX_EVENTS } from "../events/event-log.js";
import { subjectsOf } from "./messages.js";

/** The newest events of the cluster. */
export type EventStream = Awaited<ReturnType<typeof openEventStream>>;

/** Milliseconds in which an event that several gateways report is stored once. */
const SAME_EVENT_TIME = 120_000;

/** Milliseconds for NATS to store an event. */
const STORE_TIME = 5_000;

/** Creates the stream, or opens it. Rejects if NATS does not answer. */
export async function openEventStream(
	connection: NatsConnection,
	{ prefix, replicas }: { readonly prefix: string; readonly replicas: number },
) {
	const name = `${prefix}_events`;
	const subject = subjectsOf(prefix).log;
	const manager = await jetstreamManager(connection);
	const config = {
		name,
		subjects: [subject],
		storage: StorageType.File,
		num_replicas: replicas,
		max_msgs: MAX_EVENTS,
		duplicate_window: nanos(SAME_EVENT_TIME),
	};
	const { created, state } = await manager.streams.add(config).catch(async (error: unknown) => {
		if (error instanceof JetStreamApiError) {
			// Another version of the program has created it in its own way.
			return await manager.streams.info(name);
		}
		throw error;
	});
	const client = jetstream(connection);
	return {
		/** Twelve hexadecimal digits that name this stream: another one counts from the beginning. */
		epoch: Date.parse(created).toString(16).padStart(12, "0").slice(-12),
		/** Stores an event, unless one with the same id was stored within two minutes. Rejects if NATS does not answer. */
		store: async (text: string, msgID: string): Promise<void> => {
			await client.publish(subject, text, { timeout: STORE_TIME, msgID });
		},
		/** Reads from a place on. Settles when all events that were stored before are read, or when the connection is lost. */
		follow: async (from: number, onEvent: (seq: number, bytes: Uint8Array) => void, connected: AbortSignal) => {
			const start = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: Math.max(from, 1) };
			const consumer = await client.consumers.get(name, start);
			const messages = await consumer.consume();
			addAbortListener(connected, () => void messages.close());
			await new Promise<void>((resolve, reject) => {
				const read = async (): Promise<void> => {
					for await (const { seq, data } of messages) {
						onEvent(seq, data);
						if (seq >= state.last_seq) {
							resolve();
						}
					}
					resolve();
				};
				if (state.last_seq < from) {
					resolve();
				}
				read().catch(reject);
			});
		},
	};
}
