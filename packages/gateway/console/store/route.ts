import { batch, signal } from "@preact/signals";
import type { FleetQuery } from "../../src/console/fleet-query.js";

const OTHER_VIEWS = ["home", "clients", "connect", "audit", "settings"] as const;

/** Place of the page in the console: `#/devices/ALIAS`. */
export type Route =
	| { readonly view: "devices" | (typeof OTHER_VIEWS)[number] }
	| { readonly view: "device"; readonly alias: string };

function read(): Route {
	const [, view, name] = (location.hash.split("?")[0] as string).split("/");
	if (view === "devices" && name !== undefined && name !== "") {
		return { view: "device", alias: decode(name) };
	}
	return { view: OTHER_VIEWS.find((each) => each === view) ?? (view === "devices" ? view : "home") };
}

/** Decodes a segment of a path. One that is malformed stays as it is. */
export function decode(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

export const route = signal<Route>(read());

export const NO_QUERY: FleetQuery = { search: "", filter: "all", tag: "", sort: "" };

/** The query of the table: also when the page comes back to it from a device. */
export const query = signal<FleetQuery>({ ...NO_QUERY, ...queryInAddress() });

/** The address that the route is of. */
let address = location.hash;

// Both change at once: otherwise the table shows the old query for a moment, and writes it into the address.
addEventListener("hashchange", () => {
	address = location.hash;
	batch(() => {
		route.value = read();
		const given = queryInAddress();
		query.value = Object.keys(given).length > 0 ? { ...NO_QUERY, ...given } : query.value;
	});
});

/** The address of a device's view. */
export function deviceHref(alias: string): string {
	return `#/devices/${encodeURIComponent(alias)}`;
}

/** Keeps the address of a device's view true to the device's name. */
export function renameInAddress(alias: string): void {
	if (route.value.view === "device") {
		replaceAddress(deviceHref(alias));
	}
}

/** The query in the address of the table: `#/devices?filter=offline`. */
function queryInAddress(): Partial<FleetQuery> {
	return Object.fromEntries(new URLSearchParams(location.hash.split("?")[1] ?? ""));
}

/** Keeps a query in the address of the table, so that it can be reloaded and sent to others. */
export function keepInAddress(query: Readonly<Record<string, string>>): void {
	const given = Object.entries(query).filter(([, value]) => value !== "");
	const text = new URLSearchParams(given).toString();
	if (route.value.view === "devices") {
		replaceAddress(`#/devices${text === "" ? "" : `?${text}`}`);
	}
}

/** Replaces the address of the current view, unless the browser is on its way to another one. */
function replaceAddress(href: string): void {
	if (location.hash === address) {
		history.replaceState(undefined, "", href);
		address = location.hash;
	}
}
