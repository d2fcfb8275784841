import { batch, effect, signal } from "@preact/signals";
import type { OperatorLists } from "../../src/console/fleet.js";
import type { FleetMessage, FleetView } from "../../src/console/fleet-query.js";
import { route } from "./route.js";
import { ask, checkSession, phase } from "./session.js";

/** All devices in numbers; undefined until the gateway has said. */
export const totals = signal<FleetMessage["totals"]>(undefined);

/** The part of the table that the page looks at. */
export const list = signal<FleetMessage["list"]>(undefined);

/** The device that the page looks at; null if it is not known; undefined until the gateway has said. */
export const device = signal<FleetMessage["device"]>(undefined);

/** When the device that the page looks at has logged its last message, in milliseconds since 1970. Only for operators. */
export const logged = signal(0);

/** The short lists. Undefined: the session may not see them. */
export const lists = signal<Partial<OperatorLists>>({});

let view: FleetView = {};

let stream: string | undefined;

/** The view that the stream has. */
let sent: FleetView | undefined;
let isSending = false;

/** Sets the page's view: the gateway sends it, and its changes. */
export function look(next: FleetView): void {
	if (next.device !== view.device) {
		device.value = undefined;
	}
	view = next;
	void sendView();
}

// Views do not do this when they unmount: on a slow computer, the next view has called look() by then.
effect(() => {
	const { value } = route;
	if (!["home", "devices", "device"].includes(value.view)) {
		look({});
	}
});

/** Goes on with the device that the page looks at, by its id. */
export function keepLooking(id: string): void {
	if (view.device !== undefined && view.device !== id) {
		view = { device: id };
		void sendView();
	}
}

function apply({ stream: name, totals: numbers, list: part, device: detail, logged: at, ...rest }: FleetMessage): void {
	batch(() => {
		logged.value = at ?? logged.value;
		totals.value = numbers ?? totals.value;
		list.value = part ?? list.value;
		if (detail !== undefined && (detail === null || [detail.row.id, detail.row.alias].includes(view.device ?? ""))) {
			device.value = detail;
		}
		if (Object.keys(rest).length > 0) {
			lists.value = { ...lists.value, ...rest };
		}
	});
	if (name !== undefined) {
		stream = name;
		sent = undefined;
		void sendView();
	}
}

/** Sends the view, in one request at a time, and the last one last. */
async function sendView(): Promise<void> {
	if (stream === undefined || isSending) {
		return;
	}
	isSending = true;
	while (sent !== view) {
		sent = view;
		// A stream that has ended is reopened, and then gets the view.
		await ask(`console/stream/${stream}`, "PUT", sent).catch(() => {});
	}
	isSending = false;
}

/** Whether the gateway can be reached. */
export const isConnected = signal(true);

/** Milliseconds without a message after which the gateway counts as lost: it sends one every 10 s. */
const PATIENCE = 25_000;

/** Milliseconds between attempts to reach it. */
const RETRY_DELAY = 1_000;

/** Milliseconds before a background page closes its stream. Browsers open only six connections per host. */
const HIDDEN_TIME = 30_000;

let source: EventSource | undefined;
let hiding: ReturnType<typeof setTimeout> | undefined;
let watchdog: ReturnType<typeof setTimeout> | undefined;

function openStream(): void {
	closeStream();
	source = new EventSource("console/stream");
	source.onmessage = ({ data }) => {
		watch();
		apply(JSON.parse(data as string) as FleetMessage);
	};
	source.onerror = onLost;
	watch();
}

function closeStream(): void {
	clearTimeout(watchdog);
	source?.close();
	source = undefined;
}

function watch(): void {
	clearTimeout(watchdog);
	watchdog = setTimeout(onLost, PATIENCE);
}

/** The gateway is gone, or the session has ended. */
function onLost(): void {
	closeStream();
	void connect();
}

/** Asks who is signed in, until the gateway answers. The stream of changes is open while anyone is. */
export async function connect(): Promise<void> {
	try {
		const isSignedIn = await checkSession();
		isConnected.value = true;
		if (isSignedIn) {
			// A stream that the gateway ends at once must not be asked for without a pause.
			setTimeout(() => phase.value === "open" && source === undefined && openStream(), RETRY_DELAY);
		}
	} catch {
		isConnected.value = false;
		setTimeout(() => void connect(), RETRY_DELAY);
	}
}

effect(() => {
	if (phase.value === "open") {
		openStream();
	} else {
		closeStream();
	}
});

document.addEventListener("visibilitychange", () => {
	clearTimeout(hiding);
	if (document.visibilityState === "hidden") {
		hiding = setTimeout(closeStream, HIDDEN_TIME);
	} else if (source === undefined && phase.value === "open") {
		openStream();
	}
});
