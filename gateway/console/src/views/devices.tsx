import { useSignal } from "@preact/signals";
import type { FleetRow } from "../../../src/http/console/messages.js";
import { visibleLine } from "../parts/visible.js";
import { devices, isComplete, rows } from "../store/fleet.js";
import { t } from "../texts/index.js";
import { AddDevice } from "./add-device.js";
import { Approvals, Rejections } from "./approvals.js";
import { DeviceTable } from "./device-table.js";
import { problemOf } from "./problems.js";

const FILTERS = ["all", "problems", "online", "offline"] as const;
type Filter = (typeof FILTERS)[number];

/** Every device, those with problems first. */
export function DevicesView() {
	const search = useSignal("");
	const filter = useSignal<Filter>("all");
	const tag = useSignal("");
	const isAdding = useSignal(false);
	if (!isComplete.value) {
		return <p class="muted center">{t("opening")}</p>;
	}
	const all = [...rows.value.values()];
	if (all.length === 0) {
		return (
			<>
				<Approvals />
				<AddDevice isFirst />
				<Rejections />
			</>
		);
	}
	const found = all.filter((row) => isIn(row, filter.value) && hasTag(row, tag.value) && matches(row, search.value));
	return (
		<>
			<Approvals />
			<div class="title-row">
				<h1>{t("devices")}</h1>
				<Totals />
				<button type="button" aria-expanded={isAdding.value} onClick={() => (isAdding.value = !isAdding.value)}>
					{t("addDevice")}
				</button>
			</div>
			{isAdding.value && <AddDevice />}
			<div class="toolbar">
				<input
					type="search"
					aria-label={t("search")}
					placeholder={t("search")}
					value={search.value}
					onInput={({ currentTarget }) => (search.value = currentTarget.value)}
				/>
				<fieldset class="segments">
					<legend class="hidden">{t("filter")}</legend>
					{FILTERS.map((each) => (
						<label key={each}>
							<input
								type="radio"
								name="filter"
								checked={filter.value === each}
								onChange={() => (filter.value = each)}
							/>
							<span>{t(`filter_${each}`)}</span>
						</label>
					))}
				</fieldset>
				<TagFilter all={all} chosen={tag.value} onChoose={(name) => (tag.value = name)} />
			</div>
			<DeviceTable rows={sorted(found)} />
			<Rejections />
		</>
	);
}

function Totals() {
	const online = devices.value.filter((row) => row.online).length;
	const problems = devices.value.filter((row) => problemOf(row) !== undefined).length;
	return (
		<p class="totals">
			<span>
				<b>{online}</b> {t("online")}
			</span>
			<span>
				<b>{devices.value.length - online}</b> {t("offline")}
			</span>
			{problems > 0 && (
				<span class="bad-text">
					<b>{problems}</b> {t("withProblems")}
				</span>
			)}
		</p>
	);
}

interface TagFilterProps {
	readonly all: readonly FleetRow[];
	readonly chosen: string;
	readonly onChoose: (tag: string) => void;
}

function TagFilter({ all, chosen, onChoose }: TagFilterProps) {
	const tags = [...new Set(all.flatMap((row) => row.tags))].sort();
	if (tags.length === 0) {
		return null;
	}
	return (
		<select aria-label={t("tags")} value={chosen} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
			<option value="">{t("allTags")}</option>
			{tags.map((each) => (
				<option key={each} value={each}>
					{visibleLine(each)}
				</option>
			))}
		</select>
	);
}

function isIn(row: FleetRow, filter: Filter): boolean {
	switch (filter) {
		case "all":
			return true;
		case "problems":
			return problemOf(row) !== undefined;
		case "online":
			return row.online;
		case "offline":
			return !row.online;
	}
}

function hasTag({ tags }: FleetRow, tag: string): boolean {
	return tag === "" || tags.includes(tag);
}

function matches({ alias, id, board, version, tags, state = "" }: FleetRow, search: string): boolean {
	const text = [alias, id, board, version, state, ...tags].join("\n").toLowerCase();
	return search
		.toLowerCase()
		.split(/\s+/)
		.every((word) => text.includes(word));
}

/** Problems first, then by name. */
function sorted(list: readonly FleetRow[]): readonly FleetRow[] {
	const rank = (row: FleetRow): number => (problemOf(row) === undefined ? 1 : 0);
	return [...list].sort((one, other) => rank(one) - rank(other) || (one.alias < other.alias ? -1 : 1));
}
