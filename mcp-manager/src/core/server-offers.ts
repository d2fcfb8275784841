import type { Discovery, Listed } from "./discovery.js";
import { followOffers } from "./follow-offers.js";
import { type ListName, NO_OFFERS, type Offers } from "./offers.js";
import type { Server } from "./server.js";
import type { ServerDirectory } from "./server-directory.js";
import type { ServerRecord } from "./server-record.js";
import type { ServerInfo, Session } from "./session.js";
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
		const { discovery, onRecord, onFailed } = this.#options;
		void followOffers(session, discovery, {
			onBoard: (board) => {
				if (server.known && sameJson(server.board, board)) {
					// Unchanged firmware: the known tools can be called while its lists are read again.
					onRecord(server, server.record);
				}
			},
			onListed: (board, listed) => {
				if (server.session === session) {
					this.#learn(server, board, listed);
				}
			},
			onFailed: (error) => onFailed(session, error),
		});
	}

	#learn(server: Server, board: ServerInfo, listed: Listed): void {
		const { directory, onRecord, warn } = this.#options;
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

function sameJson(one: unknown, other: unknown): boolean {
	return JSON.stringify(one) === JSON.stringify(other);
}
