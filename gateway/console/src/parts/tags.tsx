import { FAVOURITE } from "../../../src/console/favourite.js";
import type { FleetRow } from "../../../src/console/messages.js";
import { ask } from "../store/api.js";
import { session } from "../store/session.js";
import { t } from "../texts/index.js";
import { attempt } from "./notice.js";
import { visibleLine } from "./visible.js";

/** A device's tags, which lead to the devices that share them. */
export function Tags({ tags }: Pick<FleetRow, "tags">) {
	return (
		<>
			{tags
				.filter((tag) => tag !== FAVOURITE)
				.map((tag) => (
					<a key={tag} class="tag" href={`#/devices?tag=${encodeURIComponent(tag)}`}>
						{visibleLine(tag)}
					</a>
				))}
		</>
	);
}

/** A star that adds a device to the favourites, or removes it. */
export function Star({ row: { id, alias, tags, kind } }: { readonly row: FleetRow }) {
	const isFavourite = tags.includes(FAVOURITE);
	if (kind === "server" || (!session.value?.operator && !isFavourite)) {
		return null;
	}
	const change = async (): Promise<void> => {
		const next = isFavourite ? tags.filter((tag) => tag !== FAVOURITE) : [...tags, FAVOURITE];
		await ask(`devices/${encodeURIComponent(id)}`, { method: "PATCH", json: { tags: next } });
	};
	return (
		<button
			type="button"
			class="quiet star"
			aria-pressed={isFavourite}
			aria-label={t("favourite", { device: visibleLine(alias) })}
			disabled={!session.value?.operator}
			onClick={() => void attempt(change)}
		>
			<span aria-hidden="true">{isFavourite ? "★" : "☆"}</span>
		</button>
	);
}
