import { coalesced } from "./coalesced.js";
import type { Discovery, Listed } from "./discovery.js";
import { LIST_NAMES, LISTS, type ListName, NO_OFFERS, type Offers } from "./offers.js";
import type { Server } from "./server.js";
import type { ServerDirectory } from "./server-directory.js";
import type { ServerRecord } from "./server-record.js";
import type { ServerInfo } from "./server-transport.js";
import type { Session } from "./session.js";
import type { Uploads } from "./uploads.js";

interface ServerOffersOptions {
	readonly discovery: Discovery;
	readonly directory: ServerDirectory;
	/** Where a device uploads; undefined: nowhere. */
	readonly uploadsOf: (session: Session) => Uploads | undefined;
	/** Its record was read or confirmed: it can be called. */
	readonly onRecord: (server: Server, record: ServerRecord) => void;
	/** It did not answer properly: no list of it can be read. */
	readonly onFailed: (session: Session, error: Error) => void;
	readonly warn: (message: string) => void;
}

/** Reads what servers offer into their records. */
export class ServerOffers {
	readonly #options: ServerOffersOptions;

	constructor(options: ServerOffersOptions) {
		this.#options = options;
	}

	/** Reads a server's identity and lists, and follows changes to the end of its session. */
	follow(server: Server, session: Session): void {
		if (session.known === undefined) {
			this.#discover(server, session).catch((error: Error) => this.#options.onFailed(session, error));
			return;
		}
		// Another gateway reads the lists before it sends a notification.
		const learn = (): void => {
			if (session.known !== undefined) {
				const { info, offers } = session.known;
				this.#learn(server, session, info, { offers, failures: new Map() });
			}
		};
		session.on("notification", (method) => changedLists(method).length > 0 && learn());
		learn();
	}

	/** Rejects if the server does not answer properly. */
	async #discover(server: Server, session: Session): Promise<void> {
		const { discovery, onRecord, onFailed } = this.#options;
		const outdated = new Set(LIST_NAMES);
		let board: ServerInfo | undefined;
		/** Whether any list was read. After that, a list that cannot be read stays as it was. */
		let isListed = false;
		const report = (listed: Listed): void => {
			const [failure] = listed.failures.values();
			isListed ||= Object.keys(listed.offers).length > 0;
			if (!isListed && failure !== undefined) {
				onFailed(session, failure);
			} else if (board !== undefined) {
				this.#learn(server, session, board, listed);
			}
		};
		const read = coalesced(async () => {
			if (board !== undefined && session.connected) {
				const lists = [...outdated];
				outdated.clear();
				await discovery.list(session, lists, report);
			}
		});
		session.on("notification", (method) => {
			const changed = changedLists(method);
			if (changed.length > 0) {
				for (const list of changed) {
					outdated.add(list);
				}
				read().catch((error: Error) => onFailed(session, error));
			}
		});
		board = await session.initialize();
		if (server.known && sameJson(server.board, board)) {
			// Unchanged firmware: the known tools can be called while its lists are read again.
			onRecord(server, server.record);
		}
		await read();
	}

	#learn(server: Server, session: Session, board: ServerInfo, listed: Listed): void {
		const { directory, onRecord, warn } = this.#options;
		if (server.session !== session) {
			return;
		}
		for (const problem of server.noteLists(listed)) {
			warn(`${server.id}: could not read ${problem}`);
		}
		const before = server.known ? server.record : undefined;
		const offers = this.#merge(server, before?.offers ?? NO_OFFERS, listed.offers);
		const record = {
			...before,
			id: server.id,
			alias: directory.aliasFor(server, board.name),
			board,
			offers,
			lastSeen: server.online && before ? before.lastSeen : Date.now(),
		};
		onRecord(server, record);
		if (offers !== before?.offers || !sameJson(before.board, board)) {
			directory.save(record);
		}
		if (record.alias !== before?.alias) {
			directory.renamed();
		} else if (offers !== before.offers) {
			directory.changed();
		}
	}

	/** An unchanged list is the same object, and so are the offers if no list has changed: what is made from them stays valid. */
	#merge(server: Server, before: Offers, { tools, ...others }: Partial<Offers>): Offers {
		const { lists } = this.#options.directory;
		const listed = lists.shareAll({ ...others, ...(tools && { tools: this.#visible(server, tools) }) });
		const isSame = Object.entries(listed).every(([list, items]) => before[list as ListName] === items);
		return isSame ? before : lists.offers({ ...before, ...listed });
	}

	/** The tools of a server that clients can see. */
	#visible({ id, session }: Server, tools: Offers["tools"]): Offers["tools"] {
		const settings = this.#options.directory.settingsOf(id);
		if (settings !== undefined) {
			return tools.filter(({ name }) => settings.offers(name));
		}
		return (session && this.#options.uploadsOf(session)?.offered(tools)) ?? tools;
	}
}

/** The lists that a notification reports as changed. */
function changedLists(method: string): ListName[] {
	return LIST_NAMES.filter((list) => LISTS[list].changed === method);
}

function sameJson(one: unknown, other: unknown): boolean {
	return JSON.stringify(one) === JSON.stringify(other);
}
