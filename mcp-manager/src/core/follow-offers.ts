import { coalesced } from "./coalesced.js";
import type { Discovery, Listed } from "./discovery.js";
import { LIST_NAMES, LISTS, type ListName } from "./offers.js";
import type { ServerInfo, Session } from "./session.js";

/** Receives what a server reports about itself. */
interface OffersListener {
	/** The server has answered `initialize`. Its lists come next. */
	readonly onBoard: (board: ServerInfo) => void;
	/** The server has sent lists: all at first, some of them perhaps later than others; then those that have changed. */
	readonly onListed: (board: ServerInfo, listed: Listed) => void;
	/** The server did not answer properly: no list of it can be read. */
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
	/** Whether a list of it was read. From then on, a list that fails costs only its own changes. */
	let isListed = false;
	const report = (listed: Listed): void => {
		const [failure] = listed.failures.values();
		isListed ||= Object.keys(listed.offers).length > 0;
		if (!isListed && failure !== undefined) {
			listener.onFailed(failure);
		} else if (board !== undefined) {
			listener.onListed(board, listed);
		}
	};
	const outdated = new Set(LIST_NAMES);
	const learn = coalesced(async () => {
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
			onListed(session.known.info, { offers: session.known.offers, failures: new Map() });
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
