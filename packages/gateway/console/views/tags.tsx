import { ICON_PATHS } from "../../src/catalog/icon-paths.js";
import type { FleetRow } from "../../src/console/messages.js";
import { FAVOURITE } from "../../src/console/messages.js";
import { ask, pathOf, session } from "../store/session.js";
import { stateText, t } from "../texts.js";
import { Button } from "./basics.js";
import { visibleLine } from "./visible.js";

/** Returns a device's title, or its alias if it has none. */
export function nameOf({ alias, title = alias }: Pick<FleetRow, "alias" | "title">): string {
	return visibleLine(title);
}

/** The icon of a device's kind. */
export function DeviceIcon({ row: { icon, online } }: { readonly row: FleetRow }) {
	return (
		<svg class={online ? "icon" : "icon off"} viewBox="0 0 24 24" aria-hidden="true">
			<path d={ICON_PATHS[icon]} />
		</svg>
	);
}

/** Whether a device is online and well, as a dot. */
export function StateDot({ row: { problem, online } }: { readonly row: FleetRow }) {
	return <span class={`dot ${problem ? (online ? "warn" : "off") : "good"}`} aria-hidden="true" />;
}

/** The state of a device in words. */
export function stateOf({ online, state }: FleetRow): string {
	return online ? stateText(state ?? "online") : t("offline");
}

/** A device's tags, which lead to the devices that share them. */
export function Tags({ tags }: Pick<FleetRow, "tags">) {
	return (
		<>
			{tags
				.filter((tag) => tag !== FAVOURITE)
				.map((tag) => (
					<a key={tag} class="badge" data-variant="secondary" href={`#/devices?tag=${encodeURIComponent(tag)}`}>
						{visibleLine(tag)}
					</a>
				))}
		</>
	);
}

/** A star that adds a device to the favourites, or removes it. */
export function Star({ row }: { readonly row: FleetRow }) {
	const { id, tags, kind } = row;
	const isFavourite = tags.includes(FAVOURITE);
	const mayChange = session.value?.operator === true;
	if (kind === "server" || (!mayChange && !isFavourite)) {
		return null;
	}
	const change = async (): Promise<void> => {
		const next = isFavourite ? tags.filter((tag) => tag !== FAVOURITE) : [...tags, FAVOURITE];
		await ask(pathOf(id), "PATCH", { tags: next });
	};
	return (
		<Button
			class="ghost small star"
			aria-pressed={isFavourite}
			aria-label={t("favourite", { device: nameOf(row) })}
			disabled={!mayChange}
			onClick={change}
			text={isFavourite ? "★" : "☆"}
		/>
	);
}
