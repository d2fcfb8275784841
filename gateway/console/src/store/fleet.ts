import { batch, effect, signal } from "@preact/signals";
import type {
	DeviceDetail,
	FleetList,
	FleetMessage,
	FleetTotals,
	FleetView,
	OperatorLists,
} from "../../../src/console/messages.js";
import { ask } from "./api.js";
import { route } from "./route.js";

/** All devices in numbers; undefined until the gateway has said. */
export const totals = signal<FleetTotals | undefined>(undefined);

/** The part of the table that the page looks at. */
export const list = signal<FleetList | undefined>(undefined);

/** The device that the page looks at; null if it is not known; undefined until the gateway has said. */
export const device = signal<DeviceDetail | null | undefined>(undefined);

/** The short lists. Undefined: the session may not see them. */
export const lists = signal<Partial<OperatorLists>>({});

/** The part of the fleet that the page shows. */
let view: FleetView = {};

/** The name of the open stream. */
let stream: string | undefined;

/** Whether the gateway is being told, and has to be told again. */
let telling: "no" | "yes" | "again" = "no";

/** Says what the page looks at from now on: the gateway sends that, and what changes in it. */
export function look(next: FleetView): void {
	if (next.device !== view.device) {
		device.value = undefined;
	}
	view = next;
	void tell();
}

// Views do not do this when they unmount: on a slow computer, the next view has called look() by then.
effect(() => {
	const { value } = route;
	if (value.view !== "devices" && value.view !== "device") {
		look({});
	}
});

/** Goes on with the device that the page looks at, by its id. */
export function keepLooking(id: string): void {
	if (view.device !== undefined && view.device !== id) {
		view = { device: id };
		void tell();
	}
}

/** Applies a message of the stream. */
export function apply({ stream: name, totals: numbers, list: part, device: detail, ...rest }: FleetMessage): void {
	batch(() => {
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
		void tell();
	}
}

/** One request at a time, the last view last. */
async function tell(): Promise<void> {
	if (stream === undefined || telling !== "no") {
		telling = telling === "no" ? "no" : "again";
		return;
	}
	do {
		telling = "yes";
		// A stream that has ended is opened again, and then told.
		await ask(`console/stream/${stream}`, { method: "PUT", json: view }).catch(() => {});
	} while ((telling as string) === "again");
	telling = "no";
}
