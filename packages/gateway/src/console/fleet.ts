import { ALL_KINDS } from "xs-mcp-firmware/hardware/vocabulary";
import { isUserOnly, type Server, type ServerTool } from "xs-mcp-manager/core";
import type { IconName } from "../catalog/icon-paths.js";
import { type Access, hasUserTools, reaches } from "../config/access.js";
import { bindingSummary } from "../devices/bootstrap/bootstrap-routes.js";
import { bootstrap } from "../devices/bootstrap/plugin.js";
import { events } from "../events/plugin.js";
import type { RunningGateway } from "../gateway.js";
import type { AuditEntry } from "../history/audit-log.js";
import { STATUS_PRINCIPAL, statusToolOf } from "../history/device-status.js";
import { history } from "../history/plugin.js";
import { management } from "../mcp/plugin.js";
import { clients } from "../transports/plugin.js";
import { recordActivity } from "./activity.js";
import { type FleetQuery, type FleetTotals, matching, type SearchedRow, searched, totalsOf } from "./fleet-query.js";
import { FAVOURITE, PROBLEMS, type Problem } from "./messages.js";

/** Milliseconds after pages were notified of a change for which further ones are collected. */
const CHANGE_DELAY = 250;

/** Interval of the checks of the short lists, ms. */
const LISTS_INTERVAL = 1_000;

const SETTERS: ReadonlySet<string> = new Set(ALL_KINDS.flatMap(({ tool }) => (tool?.sets ? [tool.name] : [])));

/** Icons of devices by the names of their tools. The first match counts. */
const DEVICE_ICONS: readonly (readonly [pattern: RegExp, icon: IconName])[] = [
	[/\bscreen\b/, "screen"],
	[/\bcamera\b/, "camera"],
	[/\b(light|lamp|led_strip)\b/, "light"],
	[/\b(switch|servo)\b|turn_on$/, "power"],
	[/\bsensor\b/, "status"],
	[/\baudio_speaker\b/, "sound"],
];

const MAX_CALLS_SENT = 50;

const MAX_EVENTS_SENT = 30;

export type Fleet = ReturnType<typeof openFleet>;

/** Everything about one device. */
export type DeviceDetail = NonNullable<ReturnType<Fleet["detail"]>>;

/** Lists that are sent as a whole when they have changed: they are short. */
export type OperatorLists = Fleet["lists"];

/**
 * Keeps the rows of all devices for open pages, which show parts of them. The first change is sent at once, later ones within
 * {@link CHANGE_DELAY} together. While no page is open, only the recent activity is kept.
 */
export function openFleet(gateway: RunningGateway) {
	const { servers, updates } = gateway;
	const { audit, statuses, history: kept } = gateway.use(history);
	const activity = recordActivity();
	/** Numbers of the lists of tools, which are never changed. No gateway that starts later has the same. */
	const versions = new WeakMap<readonly ServerTool[], number>();
	let lastVersion = Date.now();
	/** The rows that are up to date, by id. */
	const rows = new Map<string, SearchedRow>();
	/** In the default order; undefined after a change. */
	let sorted: readonly SearchedRow[] | undefined;
	/** Totals of all devices; undefined after a change. */
	let allTotals: FleetTotals | undefined;
	/** Whether something has changed since pages were notified. */
	let hasChanges = false;
	let isReporting = false;
	let interval: NodeJS.Timeout | undefined;
	/** Listeners of the open pages, each with the ids of the devices whose status it shows. */
	const pages = new Map<() => void, readonly string[]>();
	const notifyPages = (): void => [...pages.keys()].forEach((onChange) => void onChange());

	/** Reports changes; those that happen meanwhile are reported later. */
	const reportChanges = (): void => {
		isReporting = hasChanges;
		if (hasChanges) {
			hasChanges = false;
			setTimeout(reportChanges, CHANGE_DELAY);
			notifyPages();
		}
	};

	/** Reports a change to the open pages. */
	const reportSoon = (): void => {
		hasChanges = pages.size > 0;
		if (hasChanges && !isReporting) {
			isReporting = true;
			setTimeout(reportChanges, 0);
		}
	};

	/** Drops the row of a device that has changed. Without an id, drops all: changes of names, tags and tools do not say whose. */
	const dropRow = (id?: string): void => {
		if (id === undefined) {
			rows.clear();
		} else {
			rows.delete(id);
		}
		sorted = undefined;
		allTotals = undefined;
		reportSoon();
	};

	const visible = (access: Access): readonly SearchedRow[] => {
		if (sorted === undefined) {
			// The registry keeps its servers by alias: favourites come first, then those with problems.
			for (const server of servers.all.filter(({ id }) => !rows.has(id))) {
				rows.set(server.id, searched(describeRow(server, activity)));
			}
			const all = servers.all.map(({ id }) => rows.get(id) as SearchedRow);
			const rankOf = ({ row: { tags, problem } }: SearchedRow): number =>
				tags.includes(FAVOURITE) ? 0 : problem ? 1 : 2;
			sorted = [0, 1, 2].flatMap((rank) => all.filter((row) => rankOf(row) === rank));
		}
		return access.devices === undefined ? sorted : sorted.filter(({ row }) => reaches(access, row.id));
	};

	statuses.readAfterChanges(({ id }) => [...pages.values()].some((ids) => ids.includes(id)));
	statuses.on("reported", reportSoon);

	gateway.use(events).log.on("stored", reportSoon);
	servers.on("notification", (_server, method) => method === "notifications/message" && reportSoon());
	servers.on("state", (server) => {
		activity.stateChanged(server);
		dropRow(server.id);
	});
	servers.on("changed", () => dropRow());
	servers.on("rejected", activity.rejected);
	servers.on("call", (record, details) => {
		// The gateway's own status reads are not shown as calls.
		if (record.principal !== STATUS_PRINCIPAL) {
			const { entry, isUserOnly } = activity.called(record, details);
			const { principal, serverId: device, tool, outcome, args, client, title } = entry;
			const duration = Math.round(entry.duration);
			const call = { principal, tool, duration, outcome, args, client, title, device, alias: details.server.alias };
			const time = new Date(entry.time).toISOString();
			audit?.append({ time, ...call, userOnly: isUserOnly || undefined } satisfies AuditEntry);
		}
		dropRow(record.serverId);
	});
	updates.on("update", (update) => {
		activity.updated(update);
		dropRow(update.device);
	});

	return {
		/** Calls this whenever something may have changed. Returns a function that ends it. */
		follow(onChange: () => void): () => void {
			if (pages.size === 0) {
				interval = setInterval(notifyPages, LISTS_INTERVAL);
			}
			pages.set(onChange, []);
			return () => {
				pages.delete(onChange);
				if (pages.size === 0) {
					clearInterval(interval);
					hasChanges = false;
					rows.clear();
				}
			};
		},
		/** Takes the ids of the devices whose status a page shows: it is read while they are shown. */
		show(onChange: () => void, ids: readonly string[]): void {
			if (pages.has(onChange)) {
				pages.set(onChange, ids);
				statuses.refresh(ids);
			}
		},
		/** The rows that a query finds, in its order. Only for pages that follow. */
		find: (query: FleetQuery, access: Access) => matching(visible(access), query),
		/** Adds the status of a device to its row, and the tools that set its parts. */
		withStatus(row: FleetRow, access: Access): FleetRow {
			const { tools = [] } = servers.find(row.id) ?? {};
			const usable = tools.filter((tool) => !isUserOnly(tool) || hasUserTools(access, row.id));
			const statusTool = statusToolOf({ tools });
			const status = statusTool && usable.includes(statusTool) && statuses.get(row.id);
			const setters = access.readOnly ? [] : usable.map(({ name }) => name).filter((name) => SETTERS.has(name));
			return status ? { ...row, status, setters } : row;
		},
		/** Only for pages that follow. */
		totals(access: Access): FleetTotals {
			if (access.devices !== undefined) {
				return totalsOf(visible(access));
			}
			allTotals ??= totalsOf(visible(access));
			return allTotals;
		},
		/** Everything about one device; undefined if it is not known, or out of reach. */
		detail(name: string, access: Access) {
			const server = servers.find(name);
			if (server === undefined || !reaches(access, server.id)) {
				return undefined;
			}
			const { id } = server;
			const { pageUrl } = server.connection?.identity ?? {};
			const isUser = hasUserTools(access, id);
			const recent = gateway.use(events).recent(id, access, MAX_EVENTS_SENT);
			const calls = activity.callsOf(id).slice(-MAX_CALLS_SENT).reverse();
			const locked = isUser ? [] : server.tools.filter(isUserOnly);
			lastVersion += versions.has(server.tools) ? 0 : 1;
			versions.set(server.tools, versions.get(server.tools) ?? lastVersion);
			const statusTool = statusToolOf(server);
			const status = statusTool && locked.includes(statusTool) ? undefined : statuses.get(id);
			return {
				row: describeRow(server, activity),
				/** Another number when its tools have changed. */
				toolsVersion: versions.get(server.tools),
				/** The last status that it has reported; absent if none is known, or the page may not read it. */
				...(status && { status }),
				/** The states that it went through since the gateway started, the oldest first. */
				states: activity.statesOf(id),
				/** Its last calls, the newest first. */
				calls: calls.map(({ entry, isUserOnly }) =>
					isUserOnly && !isUser ? { ...entry, args: undefined, answer: undefined } : entry,
				),
				/** The tools that the page may not call because they are for people, and its token is not. */
				locked: locked.map(({ name, title, annotations }) => {
					const shown = title ?? annotations?.title;
					return { name, ...(typeof shown === "string" && { title: shown }) };
				}),
				/** Its last events, the newest first, without the device in their data. Times in milliseconds since 1970. */
				events: recent.map(({ eventId, name, timestamp, data: { device: _, ...data } }) => {
					return { eventId, name, time: Date.parse(timestamp), data };
				}),
				/** The page of a virtual device on the gateway's computer. */
				...(pageUrl !== undefined && { pageUrl }),
			};
		},
		/** When a device has logged its last message, in milliseconds since 1970; 0 if none is kept. */
		loggedAt: (name: string) => kept?.find(servers.find(name)?.id ?? name)?.loggedAt ?? 0,
		get lists() {
			const manager = gateway.use(management);
			const configured = new Set(manager?.configs.map(({ id }) => id));
			return {
				/** Devices that wait for approval. */
				approvals: gateway.use(bootstrap).pending.map(bindingSummary),
				clients: gateway.use(clients).endpoint.clients,
				/** Configured servers. `url` is a URL or command, without secrets. */
				servers: (manager?.listConnections() ?? []).filter(({ id }) => configured.has(id)),
				rejections: activity.rejections,
			};
		},
	};
}

/** A row of the table of devices and configured servers. */
export type FleetRow = ReturnType<typeof describeRow> & {
	/** On the start page: its last status, and the tools that set its parts. Absent if the page may not read it. */
	readonly status?: object;
	readonly setters?: readonly string[];
};

function describeRow(server: Server, activity: ReturnType<typeof recordActivity>) {
	const { id, alias, title, configured, tags, board, online, connection, state, lastSeen, tools } = server;
	const calls = activity.statistics(id);
	const update = activity.updateOf(id);
	const [, icon = "chip"] = DEVICE_ICONS.find(([pattern]) => tools.some(({ name }) => pattern.test(name))) ?? [];
	const row = {
		id,
		alias,
		/** The operator's name for it; absent if it has none. */
		...(title !== undefined && { title }),
		kind: configured ? "server" : "device",
		icon: configured ? "server" : icon,
		tags,
		/** Its board, or the server's name, and its version. */
		board: board.name,
		version: board.version,
		online,
		...(online && connection && { transport: connection.identity.transport }),
		/** The state that it has reported: "idle", "speaking". */
		...(online && state !== undefined && { state }),
		/** Time since when it is online, or when it was last seen. Milliseconds since 1970. */
		since: lastSeen,
		/** Their number, user-only ones included. */
		tools: tools.length,
		...(calls && { calls }),
		/** The last step of its firmware's update. */
		...(update && { update }),
	} as const;
	const problems: Readonly<Record<Problem, boolean | undefined>> = {
		offline: !online,
		fatal: state === "fatal_error",
		rolledBack: update?.step === "rolled-back",
		lastCall: calls?.lastFailed,
	};
	const problem = PROBLEMS.find((each) => problems[each]);
	return { ...row, ...(problem && { problem }) };
}
