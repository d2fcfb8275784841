import {
	AckPolicy,
	DeliverPolicy,
	JetStreamApiError,
	jetstream,
	jetstreamManager,
	StorageType,
} from "@nats-io/jetstream";
import { type KV, Kvm } from "@nats-io/kv";
import { type Msg, type NatsConnection, nanos } from "@nats-io/transport-node";
import { until } from "../../../../host-test/support/until.js";

/** A script's observations as text, without values that differ between servers, such as times. */
type Seen = string[];

/** As the gateways have it. */
const COMMON = { history: 1, allow_direct: false } as const;

/** Uses every NATS operation of the gateways. Returns the observations of a client. */
export async function runScript(connection: NatsConnection): Promise<Seen> {
	const seen: Seen = [];
	await useSubjects(connection, seen);
	const kvm = new Kvm(connection);
	const bucket = await kvm.create("things", COMMON);
	await useKeys(bucket, seen);
	await watchKeys(bucket, seen);
	await purgeBeforeDelivery(connection, bucket, seen);
	await useHistory(await kvm.create("empty", COMMON), seen);
	await useHistory(bucket, seen);
	await expireKeys(await kvm.create("brief", { ...COMMON, ttl: 1_000, storage: StorageType.Memory }), seen);
	await useStream(connection, seen);
	return seen;
}

function pause(time: number): Promise<void> {
	return new Promise((resolve) => setTimeout(resolve, time));
}

/** The error of a rejected promise. */
async function outcome(promise: Promise<unknown>): Promise<string> {
	try {
		const value = await promise;
		return JSON.stringify(value);
	} catch (error) {
		return error instanceof JetStreamApiError
			? `${error.name} ${error.code}: ${error.message}`
			: `${(error as Error).name}: ${(error as Error).message}`;
	}
}

async function useSubjects(connection: NatsConnection, seen: Seen): Promise<void> {
	const got: string[] = [];
	const callback = (_: Error | null, { subject, reply = "", data }: Msg): void =>
		void got.push(`${subject} ${reply} ${Buffer.from(data)}`);
	connection.subscribe("to.a.>", { callback });
	connection.subscribe("event.*", { callback });
	connection.subscribe("twice", { callback, max: 2 });
	for (const subject of ["to.a", "to.a.b", "to.a.b.c", "to.b.c", "event.x", "event.x.y", "twice", "twice", "twice"]) {
		connection.publish(subject, subject.toUpperCase(), { reply: "answers.here" });
	}
	await connection.flush();
	seen.push(...got);
	seen.push(await outcome(connection.request("nobody.listens", "", { timeout: 500 })));
	connection.subscribe("echo", { callback: (_, message) => void message.respond(message.data) });
	const answer = await connection.request("echo", "hello", { timeout: 500 });
	seen.push(Buffer.from(answer.data).toString());
}

async function useKeys(bucket: KV, seen: Seen): Promise<void> {
	const get = async (key: string): Promise<string> => {
		const entry = await bucket.get(key);
		return entry === null ? "null" : `${entry.key} ${entry.operation} ${entry.revision} ${entry.string()}`;
	};
	seen.push(await get("a"));
	seen.push(await outcome(bucket.put("a", "1")), await get("a"));
	seen.push(await outcome(bucket.create("a", "2")), await get("a"));
	seen.push(await outcome(bucket.create("b", "1")), await get("b"));
	seen.push(await outcome(bucket.update("a", "3", 1)), await outcome(bucket.update("a", "4", 1)), await get("a"));
	seen.push(await outcome(bucket.delete("b", { previousSeq: 1 })), await get("b"));
	seen.push(await outcome(bucket.delete("b")), await get("b"));
	seen.push(await outcome(bucket.create("b", "5")), await get("b"));
	seen.push(await outcome(bucket.purge("b")), await get("b"));
	seen.push(await outcome(bucket.create("b", "6")), await get("b"));
	seen.push(await outcome(bucket.update("c", "7", 9)), await get("c"));
	const { values, history } = await bucket.status();
	seen.push(`${values} ${history}`);
}

async function watchKeys(bucket: KV, seen: Seen): Promise<void> {
	for (const headersOnly of [false, true]) {
		const { values } = await bucket.status();
		const entries = await bucket.watch({ headers_only: headersOnly });
		const got: string[] = [];
		const read = async (): Promise<void> => {
			for await (const { key, operation, revision, value, isUpdate, length } of entries) {
				got.push(`${key} ${operation} ${revision} ${Buffer.from(value)} ${isUpdate} ${length}`);
			}
		};
		const reading = read();
		// A value that is written before the previous one was delivered replaces it.
		const delivered = (count: number) => until(() => got.length === values + count, `${values + count} entries`);
		await delivered(0);
		await bucket.put("a", "watched");
		await delivered(1);
		await bucket.delete("a");
		await delivered(2);
		await bucket.put("z", "new");
		await delivered(3);
		await bucket.purge("z");
		await delivered(4);
		entries.stop();
		await reading;
		seen.push(...got);
	}
}

/** A consumer misses what was written before a purge, if it has not been delivered yet. */
async function purgeBeforeDelivery(connection: NatsConnection, bucket: KV, seen: Seen): Promise<void> {
	const manager = await jetstreamManager(connection);
	const config = { name: "late", deliver_policy: DeliverPolicy.All, ack_policy: AckPolicy.None };
	await bucket.put("x", "1");
	await bucket.put("y", "2");
	await manager.consumers.add("KV_things", { ...config, deliver_subject: "late" });
	await bucket.purge("y");
	const got: string[] = [];
	connection.subscribe("late", { callback: (_, { subject }) => void got.push(`late: ${subject}`) });
	await until(() => got.some((text) => text.endsWith(".y")), "the last message");
	seen.push(...got);
	await manager.consumers.delete("KV_things", "late");
}

async function useHistory(bucket: KV, seen: Seen): Promise<void> {
	for await (const { key, operation, revision, value } of await bucket.history()) {
		seen.push(`history: ${key} ${operation} ${revision} ${Buffer.from(value)}`);
	}
	seen.push("end of history");
}

async function expireKeys(bucket: KV, seen: Seen): Promise<void> {
	await bucket.put("k", "v");
	seen.push(String((await bucket.get("k"))?.string()));
	await pause(1_600);
	seen.push(String(await bucket.get("k")));
	seen.push(await outcome(bucket.create("k", "again")));
}

async function useStream(connection: NatsConnection, seen: Seen): Promise<void> {
	const manager = await jetstreamManager(connection);
	const config = {
		name: "log",
		subjects: ["log"],
		storage: StorageType.File,
		max_msgs: 4,
		duplicate_window: nanos(120_000),
	};
	seen.push(await outcome(manager.streams.info("log")));
	await manager.streams.add(config);
	seen.push(String((await manager.streams.add(config)).state.last_seq));
	seen.push(await outcome(manager.streams.add({ ...config, max_msgs: 5 })));
	const client = jetstream(connection);
	for (const [text, msgID] of [["one"], ["two", "x"], ["two", "x"], ["three"], ["four"], ["five"]]) {
		const { seq, duplicate } = await client.publish("log", text, msgID === undefined ? {} : { msgID });
		seen.push(`${seq} ${duplicate}`);
	}
	const start = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: 3 };
	const consumer = await client.consumers.get("log", start);
	const messages = await consumer.consume();
	const got: string[] = [];
	const read = async (): Promise<void> => {
		for await (const { seq, data, info } of messages) {
			got.push(`${seq} ${Buffer.from(data)} ${info.pending} ${info.deliverySequence}`);
		}
	};
	const reading = read();
	await until(() => got.length === 3, "three messages");
	await client.publish("log", "six");
	await until(() => got.length === 4, "four messages");
	messages.stop();
	await reading;
	const { state } = await manager.streams.info("log");
	seen.push(...got, `${state.messages} ${state.first_seq} ${state.last_seq}`);
}
