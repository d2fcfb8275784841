import type { Offers } from "xs-mcp-manager/core";
import * as z from "zod";
import type { LoggedEvent } from "../events/event-log.js";

/**
 * The version of messages and entries. A reader ignores members that it does not know, so that two versions of the program work
 * side by side. A change that this does not allow gets the next number: what is of a later version than the reader's is refused.
 */
export const VERSION = 1;

/** Milliseconds between renewals of a gateway's lease. */
export const LEASE_RENEWAL = 2_000;

/** Milliseconds after its last renewal in which a gateway answers calls from others. */
export const LEASE_TIME = 8_000;

/** Milliseconds without a renewal after which others count a gateway as absent: later than it stops to answer. */
export const ABSENT_TIME = 9_500;

/** The subjects, by the name of the gateway that receives or, of events, publishes. */
export const SUBJECTS = {
	all: (name: string): string => `xsmcp.to.${name}.>`,
	call: (name: string): string => `xsmcp.to.${name}.call`,
	cancel: (name: string): string => `xsmcp.to.${name}.cancel`,
	/** Without an answer: NATS reports if it has no receiver. */
	ping: (name: string): string => `xsmcp.to.${name}.ping`,
	reply: (name: string, call: string): string => `xsmcp.to.${name}.reply.${call}`,
	pong: (name: string, from: string): string => `xsmcp.to.${name}.pong.${from}`,
	event: (name: string): string => `xsmcp.event.${name}`,
	events: "xsmcp.event.*",
	/** A message in the stream of events. */
	log: "xsmcp.log",
} as const;

const version = z.number().max(VERSION).default(VERSION);

/** Every writer puts the version first. */
const FIRST_MEMBER = /^\{"v":(\d{1,9})\b/;

/** Whether a message or an entry is of a later version than this program reads. */
export function isLater(bytes: Uint8Array): boolean {
	const [, number = VERSION] = FIRST_MEMBER.exec(Buffer.from(bytes.subarray(0, 16)).toString()) ?? [];
	return Number(number) > VERSION;
}
const params = z.record(z.string(), z.unknown()).default({});

/** In the bucket of gateways, by name: a gateway runs. */
export const leaseSchema = z.object({
	v: version,
	/** Differs each time the gateway starts. */
	incarnation: z.string(),
	/** Of its program. */
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

/** In the bucket of devices: a known device, and which gateway has its newest session. */
export const entrySchema = z.object({
	v: version,
	id: z.string().min(1),
	gateway: z.string(),
	incarnation: z.string(),
	/** Names the session: a call for an earlier one is rejected. */
	claim: z.string(),
	online: z.boolean(),
	/** When the session began, in milliseconds since 1970. */
	since: z.number(),
	alias: z.string(),
	/** When the alias was given, in milliseconds since 1970; absent: it is the default alias. */
	aliasSetAt: z.number().optional(),
	tags: z.array(z.string()).default([]),
	board: z.object({ name: z.string(), version: z.string() }),
	capabilities: z.record(z.string(), z.unknown()).default({}),
	/** The revision of MCP that device and gateway agreed on. */
	revision: z.string(),
	transport: z.string(),
	clientId: z.string(),
	lastSeen: z.number(),
	state: z.string().optional(),
	/** The key of its lists in the bucket of lists. */
	offers: z.string(),
});

/** A device as the cluster knows it. */
export type Entry = z.infer<typeof entrySchema>;

/** In the bucket of approvals, by the digits that it shows: a device that waits. */
export const pendingEntrySchema = z.object({
	v: version,
	deviceId: z.string(),
	clientId: z.string(),
	board: z.string(),
	version: z.string(),
	address: z.string(),
	code: z.string(),
	challenge: z.string(),
	salt: z.string(),
	expires: z.number(),
});

export const offersSchema = z.object({
	tools: z.array(z.looseObject({ name: z.string() })),
	resources: z.array(z.looseObject({ uri: z.string() })),
	resourceTemplates: z.array(z.looseObject({ uriTemplate: z.string() })),
	prompts: z.array(z.looseObject({ name: z.string() })),
}) as unknown as z.ZodType<Offers>;

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

/** In the bucket of webhooks, by the subscription's id: which gateway delivers it. */
export const webhookEntrySchema = z.object({
	v: version,
	gateway: z.string(),
	incarnation: z.string(),
	/** The subscription, encrypted by a key that the gateways derive from their `device-key`. */
	sealed: z.string(),
});

export type WebhookEntry = z.infer<typeof webhookEntrySchema>;

/** The key of a device: an id may have characters that keys cannot have. */
export function keyOf(id: string): string {
	return Buffer.from(id).toString("base64url");
}

export function idOf(key: string): string {
	return Buffer.from(key, "base64url").toString();
}

/**
 * Reads JSON that another gateway has written.
 *
 * @returns undefined if it cannot be read, as a later version's may be
 */
export function readMessage<T>(schema: z.ZodType<T>, bytes: Uint8Array): T | undefined {
	try {
		return schema.safeParse(JSON.parse(Buffer.from(bytes).toString())).data;
	} catch {
		return undefined;
	}
}
