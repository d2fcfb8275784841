import { inputSchemaOf } from "xs-mcp-manager/core";
import { type Access, accessOf } from "../config/access.js";
import type { RunningGateway } from "../gateway.js";
import { EventFeed, type EventQuery, type EventRequest } from "./event-feed.js";
import type { EventLog, LoggedEvent } from "./event-log.js";
import {
	EVENT_TYPES,
	type EventType,
	exhausted,
	findEventType,
	type GatewayOccurrence,
	invalid,
	isAllowed,
	queryFor,
	unknownEvent,
	type Viewer,
} from "./event-types.js";
import type { WebhookRecord } from "./webhook-store.js";

/** Streams with one token, and of all clients without one. */
const MAX_STREAMS = 20;
const MAX_STREAMS_WITHOUT_TOKEN = 100;

/** Milliseconds for which a client that polls is expected back. */
const LINGER = 300_000;

/** Maximum number of subscriptions to events on demand, including those that have just ended. */
const MAX_WANTED = 1_000;

/** Serves the events in a log to clients: SEP-3415 (`io.modelcontextprotocol/events`). */
export type EventService = ReturnType<typeof makeEventService>;

/** Makes the service of a log. */
export function makeEventService({ tokens, settings, servers }: RunningGateway, log: EventLog) {
	/** Subscriptions to events that are recorded only on demand, with the time at which each ends. */
	const wanted = new Map<EventQuery["matches"], number>();
	/** Streams that are open, by token; empty for clients without one. */
	const streams = new Map<string, number>();

	/** Returns the access with a token, by its hash; undefined once it is not valid. */
	const accessWith = (holder: string): Access | undefined => {
		const token = tokens.current(holder);
		return token && accessOf(token.name, token, settings.userTools, holder);
	};

	const offers = (type: EventType, access: Access): boolean =>
		isAllowed(type, access) && (type.needs !== "microphone" || settings.microphones);

	/** Removes the oldest if there are too many, a closed one if possible. */
	const setWanted = (matches: EventQuery["matches"], end: number): void => {
		wanted.delete(matches);
		wanted.set(matches, end);
		if (wanted.size > MAX_WANTED) {
			const [oldest] = [...wanted].find(([, each]) => Number.isFinite(each)) ?? [...wanted.keys()];
			wanted.delete(oldest as EventQuery["matches"]);
		}
	};

	const openFeed = (
		request: EventRequest,
		current: () => Access | undefined,
		server: string | undefined,
	): EventFeed => {
		const { name, arguments: args = {} } = request;
		const type = findEventType(name);
		if (type === undefined) {
			throw unknownEvent(name);
		}
		const query = queryFor(type, args, servers, current, server);
		if (type.isOnDemand) {
			setWanted(query.matches, Number.POSITIVE_INFINITY);
			query.onClose = () => wanted.has(query.matches) && setWanted(query.matches, Date.now() + LINGER);
		}
		try {
			return new EventFeed(log, query, request);
		} catch (error) {
			query.onClose?.();
			throw error instanceof RangeError ? invalid(error.message) : error;
		}
	};

	return {
		log,
		accessOf: accessWith,
		/** Lists the types that a client can subscribe to. Events are posted only for clients with a token. */
		list({ access }: Viewer) {
			const modes = ["webhook", "push", "poll"] as const;
			const delivery = access.holder === undefined ? modes.slice(1) : modes;
			const offered = EVENT_TYPES.filter((type) => offers(type, access));
			return offered.map(({ name, title, description, input, payload }) => {
				const [inputSchema, payloadSchema] = [inputSchemaOf(input), inputSchemaOf(payload)];
				return { name, title, description, delivery, inputSchema, payloadSchema };
			});
		},
		/** Whether a client waits for an event that is recorded on demand. */
		wants(event: Pick<GatewayOccurrence, "name" | "device" | "data">): boolean {
			const now = Date.now();
			const asked = { eventId: "", seq: 0, timestamp: new Date(now).toISOString(), ...event };
			return [...wanted].some(([matches, end]) => end > now && matches(asked));
		},
		/** Opens the events of one subscription. @throws ProtocolError if there is no such type, or the arguments or the cursor are wrong */
		feed({ access, server }: Viewer, request: EventRequest): EventFeed {
			const { holder } = access;
			const type = findEventType(request.name);
			if (type !== undefined && !offers(type, access)) {
				throw unknownEvent(request.name);
			}
			return openFeed(request, () => (holder === undefined ? access : accessWith(holder)), server);
		},
		/** Opens the events of a stored subscription. @throws ProtocolError if its type or its arguments are not valid any more */
		feedOf: (record: WebhookRecord): EventFeed => openFeed(record, () => accessWith(record.holder), record.server),
		/** Returns the last events of a device that a client may see, the newest first. */
		recent(device: string, access: Access, count: number): readonly LoggedEvent[] {
			const isShown = ({ name, device: of }: LoggedEvent): boolean => {
				const type = findEventType(name);
				return of === device && type !== undefined && isAllowed(type, access, device);
			};
			return log.after(0).filter(isShown).slice(-count).reverse();
		},
		/**
		 * Counts a stream of a client.
		 *
		 * @returns a function to call when it has ended
		 * @throws ProtocolError if the client has too many
		 */
		openStream({ access: { holder = "" } }: Viewer): () => void {
			const open = streams.get(holder) ?? 0;
			const most = holder === "" ? MAX_STREAMS_WITHOUT_TOKEN : MAX_STREAMS;
			if (open >= most) {
				throw exhausted("streams", most);
			}
			streams.set(holder, open + 1);
			return () => {
				const left = (streams.get(holder) ?? 1) - 1;
				left === 0 ? streams.delete(holder) : streams.set(holder, left);
			};
		},
	};
}
