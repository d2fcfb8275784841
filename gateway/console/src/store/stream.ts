import { signal } from "@preact/signals";
import type { FleetMessage } from "../../../src/console/messages.js";
import { apply } from "./fleet.js";
import { checkSession, phase } from "./session.js";

/** Whether the gateway can be reached. */
export const isConnected = signal(true);

/** Increases whenever the gateway was lost and found again: sessions with it may be gone. */
export const epoch = signal(0);

/** Milliseconds without a message after which the gateway counts as lost: it sends one every 10 s. */
const PATIENCE = 25_000;

/** Milliseconds between attempts to reach it. */
const RETRY_DELAY = 1_000;

/** Milliseconds for which a page in the background goes on: browsers open only six connections to one host. */
const HIDDEN_TIME = 30_000;

let source: EventSource | undefined;
let wasLost = false;
let hiding: ReturnType<typeof setTimeout> | undefined;
let watchdog: ReturnType<typeof setTimeout> | undefined;

/** Opens the stream of changes, and again whenever it is lost, until the person signs out. */
export function openStream(): void {
	closeStream();
	source = new EventSource("console/stream");
	source.onopen = () => {
		if (wasLost) {
			wasLost = false;
			epoch.value += 1;
		}
	};
	source.onmessage = ({ data }) => {
		watch();
		apply(JSON.parse(data as string) as FleetMessage);
	};
	source.onerror = () => void reopen();
	watch();
}

export function closeStream(): void {
	clearTimeout(watchdog);
	source?.close();
	source = undefined;
}

function watch(): void {
	clearTimeout(watchdog);
	watchdog = setTimeout(() => void reopen(), PATIENCE);
}

/** The gateway is gone, or the session has ended: asks which. */
async function reopen(): Promise<void> {
	closeStream();
	wasLost = true;
	try {
		const isSignedIn = await checkSession();
		isConnected.value = true;
		if (isSignedIn) {
			// A stream that the gateway ends at once must not be asked for without a pause.
			setTimeout(() => phase.value === "open" && openStream(), RETRY_DELAY);
		}
	} catch {
		isConnected.value = false;
		setTimeout(() => void reopen(), RETRY_DELAY);
	}
}

document.addEventListener("visibilitychange", () => {
	clearTimeout(hiding);
	if (document.visibilityState === "hidden") {
		hiding = setTimeout(closeStream, HIDDEN_TIME);
	} else if (source === undefined && phase.value === "open") {
		openStream();
	}
});
