import { jsonIn, type ServerInfo } from "xs-mcp-manager/core";
import * as z from "zod";
import type { LoggedEvent } from "../events/event-log.js";

/**
 * The version of messages and entries. A reader ignores members that it does not know, and refuses a later version than its
 * own. An incompatible change gets the next number.
 */
export const VERSION = 1;

/** Milliseconds between renewals of a gateway's lease. */
export const LEASE_RENEWAL = 2_000;

/** Milliseconds after its last renewal in which a gateway answers calls from others. */
export const LEASE_TIME = 8_000;

/** Milliseconds without a renewal after which others count a gateway as absent: later than it stops to answer. */
export const ABSENT_TIME = 9_500;

/** The subjects of a cluster with a prefix, by the name of the gateway that receives or, of events, publishes. */
export const subjectsOf = (prefix: string) =>
	({
		all: (name: string): string => `${prefix}.to.${name}.>`,
		call: (name: string): string => `${prefix}.to.${name}.call`,
		cancel: (name: string): string => `${prefix}.to.${name}.cancel`,
		/** Needs no answer: NATS reports if it has no receiver. */
		ping: (name: string): string => `${prefix}.to.${name}.ping`,
		reply: (name: string, call: string): string => `${prefix}.to.${name}.reply.${call}`,
		pong: (name: string, from: string): string => `${prefix}.to.${name}.pong.${from}`,
		event: (name: string): string => `${prefix}.event.${name}`,
		events: `${prefix}.event.*`,
		/** A message in the stream of events. */
		log: `${prefix}.log`,
	}) as const;

const version = z.number().max(VERSION).default(VERSION);

const params = z.record(z.string(), z.unknown()).default({});

/** This gateway, and this process of all that it had and will have. */
export interface Self {
	readonly name: string;
	readonly incarnation: string;
}

/** In the short-lived store, `gateway/NAME`: a gateway runs. */
export const leaseSchema = z.object({
	v: version,
	/** Differs each time the gateway starts. */
	incarnation: z.string(),
	/** Version of its program. */
	program: z.string(),
	/** When it started, in milliseconds since 1970. */
	since: z.number(),
	/** Devices in a session with it. */
	devices: z.number(),
	/** Clients in a session with it. */
	clients: z.number().default(0),
	/** Calls for clients of other gateways in progress. */
	calls: z.number().default(0),
	/** Whether it is about to stop. */
	draining: z.boolean().default(false),
	/** Differs if its `device-key` does. */
	key: z.string().optional(),
});

/** A gateway's lease. */
export type Lease = z.infer<typeof leaseSchema>;

/** In the short-lived store, `claim/DEVICE`: which gateway has the newest session of a device. */
export const claimSchema = z.object({
	v: version,
	gateway: z.string(),
	incarnation: z.string(),
	/** Names the session: a call for an earlier one is rejected. */
	claim: z.string(),
	/** When the session began, in milliseconds since 1970 by the store's clock. */
	since: z.number(),
	capabilities: z.record(z.string(), z.unknown()).default({}),
	/** The revision of MCP that device and gateway agreed on. */
	revision: z.string(),
	transport: z.string(),
	clientId: z.string(),
	state: z.string().optional(),
});

export type Claim = z.infer<typeof claimSchema>;

/** A device of another gateway: its claim, and its record. */
export type Entry = Claim & {
	readonly id: string;
	readonly board: ServerInfo;
	/** The hash of its lists. */
	readonly offers: string;
};

/** A request of a client, to the gateway that has the device. */
export const callSchema = z.object({ v: version, device: z.string(), claim: z.string(), method: z.string(), params });

export type Call = z.infer<typeof callSchema>;

/** The client has cancelled: the subject of its replies. */
export const cancelSchema = z.object({ v: version, reply: z.string() });

/** A part of the answer to a call: progress, or one of the three ends. */
export const replySchema = z.object({
	v: version,
	progress: z.record(z.string(), z.unknown()).optional(),
	result: z.record(z.string(), z.unknown()).optional(),
	/** The device's JSON-RPC error. */
	error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }).optional(),
	/** The gateway's ServerError. */
	failed: z.object({ code: z.string(), message: z.string() }).optional(),
});

export type Reply = Partial<z.infer<typeof replySchema>>;

/** A notification of a device, to every gateway. */
export const eventSchema = z.object({ v: version, device: z.string(), claim: z.string(), method: z.string(), params });

/** In the stream of events. */
export const loggedEventSchema = z
	.object({
		v: version,
		name: z.string(),
		device: z.string(),
		data: z.record(z.string(), z.unknown()),
		timestamp: z.string(),
	})
	.transform(({ v: _, ...event }): Omit<LoggedEvent, "seq" | "eventId"> => event);

/** Reads JSON that another gateway has written; undefined if it cannot be read, as a later version's may be. */
export function readMessage<T>(schema: z.ZodType<T>, bytes: Uint8Array): T | undefined {
	return schema.safeParse(jsonIn(Buffer.from(bytes).toString())).data;
}
