import { coalesced } from "./coalesced.js";
import type { Discovery } from "./discovery.js";
import { LIST_NAMES, LISTS, type ListName, type Offers } from "./offers.js";
import type { ServerInfo, Session } from "./session.js";

/** Receives what a server reports about itself. */
interface OffersListener {
	/** The server has answered `initialize`. Its lists come next. */
	readonly onBoard: (board: ServerInfo) => void;
	/** The server has sent its lists: all at first, later those that have changed. */
	readonly onListed: (board: ServerInfo, listed: Partial<Offers>) => void;
	/** The server did not answer properly. */
	readonly onFailed: (error: Error) => void;
}

/**
 * Initializes a session and reads the server's lists, again whenever the server reports a change, until the end of the
 * session. Never rejects.
 */
export async function followOffers(session: Session, discovery: Discovery, listener: OffersListener): Promise<void> {
	if (session.known !== undefined) {
		followKnown(session, listener);
		return;
	}
	let board: ServerInfo | undefined;
	const outdated = new Set(LIST_NAMES);
	const learn = coalesced(async () => {
		if (board !== undefined && session.connected) {
			const lists = [...outdated];
			outdated.clear();
			listener.onListed(board, await discovery.list(session, lists));
		}
	});
	session.on("notification", (method) => {
		const changed = changedLists(method);
		if (changed.length > 0) {
			for (const list of changed) {
				outdated.add(list);
			}
			learn().catch(listener.onFailed);
		}
	});
	try {
		board = await session.initialize();
		listener.onBoard(board);
		await learn();
	} catch (error) {
		listener.onFailed(error as Error);
	}
}

/** Another gateway reads the lists, and has them ready when it notifies. */
function followKnown(session: Session, { onListed }: OffersListener): void {
	const learn = (): void => {
		if (session.known !== undefined) {
			onListed(session.known.info, session.known.offers);
		}
	};
	session.on("notification", (method) => {
		if (changedLists(method).length > 0) {
			learn();
		}
	});
	learn();
}

/** The lists that a notification reports as changed. */
function changedLists(method: string): ListName[] {
	return LIST_NAMES.filter((list) => LISTS[list].changed === method);
}
