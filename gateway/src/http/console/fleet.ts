import { EventEmitter } from "node:events";
import type { Server, ServerRegistry } from "xs-mcp-manager/core";
import type { FirmwareUpdates } from "../../devices/firmware-updates.js";
import { Activity } from "./activity.js";
import type { CallEntry, FirmwareEntry, FleetMessage, FleetRow, OperatorLists } from "./messages.js";

/** Milliseconds for which changes are collected before pages are told. */
const CHANGE_DELAY = 250;

/** Milliseconds between looks at the short lists. */
const LISTS_INTERVAL = 1_000;

/** Most calls, and steps of updates, in one message: a page that is open through a storm gets a sample. */
const MAX_ENTRIES_SENT = 100;

interface FleetOptions {
	readonly servers: ServerRegistry;
	readonly updates: FirmwareUpdates;
	/** The lists beside the activity's. */
	readonly lists: () => Omit<OperatorLists, "rejections">;
}

interface Events {
	/** Something has changed. */
	change: [message: FleetMessage];
}

/**
 * The rows of all devices and what changes in them, for the pages that are open: collected for {@link CHANGE_DELAY}, so that
 * thousands of devices that connect at once are a few messages. While no page is open, only calls and rejections are kept.
 */
export class Fleet extends EventEmitter<Events> {
	readonly activity = new Activity();
	readonly #options: FleetOptions;
	/** As pages know them. */
	readonly #rows = new Map<string, { readonly row: FleetRow; readonly text: string }>();
	readonly #changed = new Set<string>();
	/** Whether any device may have changed: names, tags and tools change without being named. */
	#mayAllHaveChanged = false;
	#calls: CallEntry[] = [];
	#firmware: FirmwareEntry[] = [];
	readonly #lists = new Map<string, string>();
	#delay: NodeJS.Timeout | undefined;
	#interval: NodeJS.Timeout | undefined;

	constructor(options: FleetOptions) {
		super();
		this.setMaxListeners(0);
		this.#options = options;
		const { servers, updates } = options;
		const touch = ({ id }: Server): void => this.#touch(id);
		servers.on("online", touch);
		servers.on("stateChanged", touch);
		servers.on("disconnected", touch);
		servers.on("changed", () => {
			this.#mayAllHaveChanged = true;
			this.#touch();
		});
		servers.on("rejected", (description) => this.activity.rejected(description));
		servers.on("call", (record) => {
			keep(this.#calls, this.activity.called(record));
			this.#touch(record.serverId);
		});
		updates.on("update", (update) => {
			keep(this.#firmware, { ...update, time: Date.now() });
			this.#touch(update.device);
		});
	}

	/** Starts to follow changes for a page. Returns what ends that. */
	follow(onChange: (message: FleetMessage) => void): () => void {
		if (this.listenerCount("change") === 0) {
			this.#start();
		}
		this.on("change", onChange);
		return () => {
			this.off("change", onChange);
			if (this.listenerCount("change") === 0) {
				this.#stop();
			}
		};
	}

	/** The rows as the pages that follow know them. */
	get rows(): readonly FleetRow[] {
		return [...this.#rows.values()].map(({ row }) => row);
	}

	/** The row of a device, as the pages know it; undefined if it was forgotten. */
	row(id: string): FleetRow | undefined {
		return this.#rows.get(id)?.row;
	}

	/** The short lists as they are. */
	get lists(): OperatorLists {
		return { ...this.#options.lists(), rejections: this.activity.rejections };
	}

	#start(): void {
		this.#compareRows(this.#options.servers.all);
		this.#compareLists();
		this.#interval = setInterval(() => this.#tellLists(), LISTS_INTERVAL);
	}

	#stop(): void {
		clearInterval(this.#interval);
		clearTimeout(this.#delay);
		this.#delay = undefined;
		this.#rows.clear();
		this.#lists.clear();
		this.#changed.clear();
	}

	#touch(id?: string): void {
		if (this.listenerCount("change") === 0) {
			this.#calls = [];
			this.#firmware = [];
			return;
		}
		if (id !== undefined) {
			this.#changed.add(id);
		}
		this.#delay ??= setTimeout(() => {
			this.#delay = undefined;
			this.#tell();
		}, CHANGE_DELAY);
	}

	#tell(): void {
		const { servers } = this.#options;
		const found = this.#mayAllHaveChanged ? servers.all : [...this.#changed].flatMap((id) => servers.find(id) ?? []);
		const gone = this.#mayAllHaveChanged ? this.#removeForgotten(servers.all) : [];
		const rows = this.#compareRows(found);
		const [calls, firmware] = [this.#calls, this.#firmware];
		this.#changed.clear();
		this.#mayAllHaveChanged = false;
		this.#calls = [];
		this.#firmware = [];
		const message = {
			...(rows.length > 0 && { rows }),
			...(gone.length > 0 && { gone }),
			...(calls.length > 0 && { calls }),
			...(firmware.length > 0 && { firmware }),
		};
		if (Object.keys(message).length > 0) {
			this.emit("change", message);
		}
	}

	#tellLists(): void {
		const changed = this.#compareLists();
		if (Object.keys(changed).length > 0) {
			this.emit("change", changed);
		}
	}

	/** Keeps the rows of these servers. Returns those that differ from what pages know. */
	#compareRows(servers: readonly Server[]): FleetRow[] {
		const different: FleetRow[] = [];
		for (const server of servers) {
			const row = this.#rowOf(server);
			const text = JSON.stringify(row);
			if (this.#rows.get(server.id)?.text !== text) {
				this.#rows.set(server.id, { row, text });
				different.push(row);
			}
		}
		return different;
	}

	#removeForgotten(servers: readonly Server[]): string[] {
		const known = new Set(servers.map(({ id }) => id));
		const gone = [...this.#rows.keys()].filter((id) => !known.has(id));
		for (const id of gone) {
			this.#rows.delete(id);
		}
		return gone;
	}

	/** The short lists that differ from what pages know. */
	#compareLists(): Partial<OperatorLists> {
		const different = Object.entries(this.lists).filter(([name, list]) => {
			const text = JSON.stringify(list);
			const differs = this.#lists.get(name) !== text;
			this.#lists.set(name, text);
			return differs;
		});
		return Object.fromEntries(different);
	}

	#rowOf({ id, alias, configured, tags, board, online, session, state, lastSeen, tools }: Server): FleetRow {
		const calls = this.activity.statistics(id);
		return {
			id,
			alias,
			kind: configured ? "server" : "device",
			tags,
			board: board.name,
			version: board.version,
			online,
			...(online && session && { transport: session.identity.transport }),
			...(online && state !== undefined && { state }),
			since: lastSeen,
			tools: tools.length,
			...(calls && { calls }),
		};
	}
}

function keep<T>(list: T[], entry: T): void {
	list.push(entry);
	list.splice(0, list.length - MAX_ENTRIES_SENT);
}
