import { coalesced } from "./coalesced.js";
import type { Discovery } from "./discovery.js";
import { LIST_NAMES, LISTS, type ListName, type Offers } from "./offers.js";
import type { ServerInfo, Session } from "./session.js";

/** Is told what a server says. */
interface OffersListener {
	/** It has said who it is. Its lists come next. */
	readonly onBoard: (board: ServerInfo) => void;
	/** It has listed what it offers: everything at first, then the lists that have changed. */
	readonly onListed: (board: ServerInfo, listed: Partial<Offers>) => void;
	/** It could not be asked. */
	readonly onFailed: (error: Error) => void;
}

/**
 * Asks a server who it is and what it offers, and asks again when it says that a list has changed, to the end of its
 * session. Never rejects.
 */
export async function followOffers(session: Session, discovery: Discovery, listener: OffersListener): Promise<void> {
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

/** The lists that are different if a server sends this notification. */
function changedLists(method: string): ListName[] {
	return LIST_NAMES.filter((list) => LISTS[list].changed === method);
}
