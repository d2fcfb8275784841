import { EventEmitter } from "node:events";
import { isUserOnly, type Server } from "xs-mcp-manager/core";
import { type Access, hasUserTools, reaches } from "../config/access.js";
import { bindingSummary } from "../devices/bootstrap/binding-routes.js";
import { bootstrap } from "../devices/bootstrap/plugin.js";
import { events } from "../events/plugin.js";
import type { RunningGateway } from "../gateway.js";
import { HISTORY_PRINCIPAL } from "../history/history.js";
import { history } from "../history/plugin.js";
import { management } from "../mcp/plugin.js";
import { clients } from "../transports/plugin.js";
import { Activity } from "./activity.js";
import { type FleetQuery, matching, type SearchedRow, searched, totalsOf } from "./fleet-query.js";
import {
	type DeviceDetail,
	FAVOURITE,
	type FleetRow,
	type FleetTotals,
	type OperatorLists,
	type Problem,
} from "./messages.js";

/** Milliseconds after pages were told of a change for which further ones are collected. */
const CHANGE_DELAY = 250;

/** Interval of the checks of the short lists, ms. */
const LISTS_INTERVAL = 1_000;

/** Calls of one device that a page gets. */
const MAX_CALLS_SENT = 50;

/** Events of one device that a page gets. */
const MAX_EVENTS_SENT = 30;

interface Events {
	/** Something may have changed: each page compares what it looks at. */
	change: [];
}

/**
 * The rows of all devices, for the pages that are open, which look at parts of them. A change is told at once, those that
 * follow it within {@link CHANGE_DELAY} together. While no page is open, only what {@link Activity} keeps is kept.
 */
export class Fleet extends EventEmitter<Events> {
	readonly activity = new Activity();
	readonly #gateway: RunningGateway;
	readonly #rows = new Map<string, SearchedRow>();
	/** In the default order; undefined after a change. */
	#sorted: readonly SearchedRow[] | undefined;
	/** Totals of all devices; undefined after a change. */
	#totals: FleetTotals | undefined;
	readonly #changed = new Set<string>();
	/** Whether any device may have changed: names, tags and tools change without being named. */
	#mayAllHaveChanged = false;
	/** Whether something has changed since pages were told. */
	#hasNews = false;
	#delay: NodeJS.Timeout | undefined;
	#interval: NodeJS.Timeout | undefined;

	constructor(gateway: RunningGateway) {
		super();
		this.setMaxListeners(0);
		this.#gateway = gateway;
		const { servers, updates } = gateway;
		const { audit } = gateway.use(history);
		const { activity } = this;
		gateway.use(events).log.on("stored", () => this.#touch());
		const touch = (server: Server): void => {
			activity.stateChanged(server);
			this.#touch(server.id);
		};
		servers.on("online", touch);
		servers.on("notification", (server, _method, _params, isState) => isState && touch(server));
		servers.on("disconnected", touch);
		servers.on("changed", () => {
			this.#mayAllHaveChanged = true;
			this.#touch();
		});
		servers.on("rejected", (description) => activity.rejected(description));
		servers.on("call", (record, details) => {
			// The gateway's own status reads are not shown as calls.
			if (record.principal !== HISTORY_PRINCIPAL) {
				const { entry, isUserOnly } = activity.called(record, details);
				const { number: _number, time: _time, answer: _answer, serverId: device, ...call } = entry;
				const alias = servers.find(device)?.alias;
				audit?.called({ ...call, device, ...(alias && { alias }), ...(isUserOnly && { userOnly: true }) });
			}
			this.#touch(record.serverId);
		});
		updates.on("update", (update) => {
			activity.updated(update);
			this.#touch(update.device);
		});
	}

	/** Calls this whenever something may have changed. Returns a function that ends it. */
	follow(onChange: () => void): () => void {
		if (this.listenerCount("change") === 0) {
			this.#refresh(this.#gateway.servers.all);
			this.#interval = setInterval(() => this.emit("change"), LISTS_INTERVAL);
		}
		this.on("change", onChange);
		return () => {
			this.off("change", onChange);
			if (this.listenerCount("change") > 0) {
				return;
			}
			clearInterval(this.#interval);
			clearTimeout(this.#delay);
			this.#delay = undefined;
			this.#hasNews = false;
			this.#rows.clear();
			this.#sorted = undefined;
			this.#totals = undefined;
			this.#changed.clear();
		};
	}

	/** The rows that a query finds, in its order. Only for pages that follow. */
	find(query: FleetQuery, access: Access): readonly SearchedRow[] {
		return matching(this.#visible(access), query);
	}

	/** Only for pages that follow. */
	totals(access: Access): FleetTotals {
		if (access.devices !== undefined) {
			return totalsOf(this.#visible(access));
		}
		this.#totals ??= totalsOf(this.#visible(access));
		return this.#totals;
	}

	/** Everything about one device; undefined if it is not known, or out of reach. */
	detail(name: string, access: Access): DeviceDetail | undefined {
		const server = this.#gateway.servers.find(name);
		if (server === undefined || !reaches(access, server.id)) {
			return undefined;
		}
		const { id } = server;
		const { pageUrl } = server.connection?.identity ?? {};
		const isUser = hasUserTools(access, id);
		const recent = this.#gateway.use(events).recent(id, access, MAX_EVENTS_SENT);
		const calls = this.activity.callsOf(id).slice(-MAX_CALLS_SENT).reverse();
		return {
			row: this.#rowOf(server),
			states: this.activity.statesOf(id),
			calls: calls.map(({ entry, isUserOnly }) =>
				isUserOnly && !isUser ? { ...entry, args: undefined, answer: undefined } : entry,
			),
			locked: isUser
				? []
				: server.tools.filter(isUserOnly).map(({ name, title, annotations }) => {
						const shown = title ?? annotations?.title;
						return { name, ...(typeof shown === "string" && { title: shown }) };
					}),
			events: recent.map(({ eventId, name, timestamp, data: { device: _, ...data } }) => ({
				eventId,
				name,
				time: Date.parse(timestamp),
				data,
			})),
			...(pageUrl !== undefined && { pageUrl }),
		};
	}

	/** The short lists as they are. */
	get lists(): OperatorLists {
		const manager = this.#gateway.use(management);
		const configured = new Set(manager?.configs.map(({ id }) => id));
		return {
			approvals: this.#gateway.use(bootstrap).pending.map(bindingSummary),
			clients: this.#gateway.use(clients).endpoint.clients,
			servers: (manager?.listConnections() ?? []).filter(({ id }) => configured.has(id)),
			rejections: this.activity.rejections,
		};
	}

	#touch(id?: string): void {
		if (this.listenerCount("change") === 0) {
			return;
		}
		if (id !== undefined) {
			this.#changed.add(id);
		}
		this.#hasNews = true;
		this.#delay ??= setTimeout(() => this.#tellNews(), 0);
	}

	/** Reports changes; those that happen meanwhile are reported later. */
	#tellNews(): void {
		this.#delay = undefined;
		if (this.#hasNews) {
			this.#hasNews = false;
			this.#delay = setTimeout(() => this.#tellNews(), CHANGE_DELAY);
			const { servers } = this.#gateway;
			if (this.#mayAllHaveChanged) {
				this.#rows.clear();
				this.#refresh(servers.all);
			} else {
				this.#refresh([...this.#changed].flatMap((id) => servers.find(id) ?? []));
			}
			this.#changed.clear();
			this.#mayAllHaveChanged = false;
			this.emit("change");
		}
	}

	#refresh(servers: readonly Server[]): void {
		for (const server of servers) {
			this.#rows.set(server.id, searched(this.#rowOf(server)));
		}
		this.#sorted = undefined;
		this.#totals = undefined;
	}

	#visible(access: Access): readonly SearchedRow[] {
		if (this.#sorted === undefined) {
			// The registry keeps its servers by alias: favourites come first, then those with problems.
			const rows = this.#gateway.servers.all.flatMap(({ id }) => this.#rows.get(id) ?? []);
			const rankOf = ({ row: { tags, problem } }: SearchedRow): number =>
				tags.includes(FAVOURITE) ? 0 : problem ? 1 : 2;
			this.#sorted = [0, 1, 2].flatMap((rank) => rows.filter((row) => rankOf(row) === rank));
		}
		return access.devices === undefined ? this.#sorted : this.#sorted.filter(({ row }) => reaches(access, row.id));
	}

	#rowOf({ id, alias, configured, tags, board, online, connection, state, lastSeen, tools }: Server): FleetRow {
		const calls = this.activity.statistics(id);
		const update = this.activity.updateOf(id);
		const row = {
			id,
			alias,
			kind: configured ? "server" : "device",
			tags,
			board: board.name,
			version: board.version,
			online,
			...(online && connection && { transport: connection.identity.transport }),
			...(online && state !== undefined && { state }),
			since: lastSeen,
			tools: tools.length,
			...(calls && { calls }),
			...(update && { update }),
		} as const;
		const problem = problemOf(row);
		return { ...row, ...(problem && { problem }) };
	}
}

/** The problem of a device; undefined if it has none. */
function problemOf({ online, state, calls, update }: Omit<FleetRow, "problem">): Problem | undefined {
	if (!online) {
		return "offline";
	}
	if (state === "fatal_error") {
		return "fatal";
	}
	if (update?.step === "rolled-back") {
		return "rolledBack";
	}
	return calls?.lastFailed ? "lastCall" : undefined;
}
