import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { FleetQuery } from "../../src/console/fleet-query.js";
import type { Problem } from "../../src/console/messages.js";
import { GroupLink } from "../store/device-link.js";
import { list, look, totals } from "../store/fleet.js";
import { keepInAddress, query } from "../store/route.js";
import { t } from "../texts.js";
import { AddDevice } from "./add-device.js";
import { Approvals, Rejections } from "./approvals.js";
import { Button, useLoaded } from "./basics.js";
import { DeviceTable, type Part } from "./device-table.js";
import { Segments, Select } from "./inputs.js";
import { ToolCard } from "./tool-card.js";
import { visible, visibleLine } from "./visible.js";

const FILTERS = ["all", "problems", "online", "offline"] as const;

const PROBLEMS: readonly Problem[] = ["fatal", "rolledBack", "lastCall", "offline"];

/** Every device, those with problems first: the gateway searches, and sends the part that is in sight. */
export function DevicesView() {
	const part = useSignal<Part>({ offset: 0, count: 60 });
	const isAdding = useSignal(false);
	const [{ value: wanted }, { value: inSight }] = [query, part];
	useEffect(() => look({ list: { ...wanted, ...inSight } }), [wanted, inSight]);
	useEffect(() => keepInAddress({ ...wanted, filter: wanted.filter === "all" ? "" : wanted.filter }), [wanted]);
	const change = (changed: Partial<FleetQuery>): void => {
		query.value = { ...query.value, ...changed };
	};
	const { value: shown } = list;
	if (totals.value === undefined || shown === undefined) {
		return <p class="text-light align-center">{t("opening")}</p>;
	}
	if (totals.value.all === 0) {
		return (
			<>
				<Approvals />
				<AddDevice isFirst />
				<Rejections isOpen />
			</>
		);
	}
	return (
		<>
			<Approvals />
			<div class="hstack">
				<h1>{t("devices")}</h1>
				<Totals filter={wanted.filter} onChoose={(filter) => change({ filter })} />
				<Button
					aria-expanded={isAdding.value}
					onClick={() => (isAdding.value = !isAdding.value)}
					text={t("addDevice")}
				/>
			</div>
			{isAdding.value && <AddDevice />}
			<div class="hstack">
				<input
					type="search"
					aria-label={t("search")}
					placeholder={t("search")}
					value={wanted.search}
					maxLength={200}
					onInput={({ currentTarget }) => change({ search: currentTarget.value })}
				/>
				<Segments
					label={t("filter")}
					options={FILTERS}
					nameOf={(each) => t(`filter_${each}`)}
					chosen={wanted.filter}
					onChoose={(filter) => change({ filter })}
				/>
				{totals.value.tags.length > 0 && (
					<Select
						label={t("column_tags")}
						options={[["", t("allTags")], ...totals.value.tags.map((tag) => [tag, visibleLine(tag)] as const)]}
						value={wanted.tag}
						onChange={(tag) => change({ tag })}
					/>
				)}
			</div>
			<GroupCalls />
			<DeviceTable
				list={shown}
				sort={wanted.sort}
				onSort={(sort) => change({ sort })}
				onLook={(next) => (part.value = next)}
			/>
			<Rejections />
		</>
	);
}

type Filter = FleetQuery["filter"];

/** All devices in numbers; what is wrong can be chosen. */
function Totals({ filter, onChoose }: { filter: Filter; onChoose: (filter: Filter) => void }) {
	const { online = 0, problems } = totals.value ?? {};
	return (
		<p class="hstack totals">
			<span>
				<b>{online}</b> {t("online")}
			</span>
			{PROBLEMS.filter((each) => problems?.[each]).map((each) => (
				<button
					key={each}
					type="button"
					class={`ghost small ${each === "offline" ? "" : "bad-text"}`}
					aria-pressed={filter === each}
					onClick={() => onChoose(filter === each ? "all" : each)}
				>
					<b>{problems?.[each]}</b> {t(`problem_${each}`)}
				</button>
			))}
		</p>
	);
}

/** Tools that several devices share: one call reaches all devices, those of a tag, or chosen ones. */
function GroupCalls() {
	const link = useMemo(() => new GroupLink(), []);
	const isOpen = useSignal(false);
	const { problem } = useLoaded(async () => isOpen.value && (await link.open()), [link, isOpen.value]);
	const { value: tools } = link.tools;
	return (
		<details onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
			<summary>{t("groupCalls")}</summary>
			<div>
				{problem !== "" && <p class="bad-text">{visible(problem)}</p>}
				{tools?.length === 0 && <p class="text-light">{t("noGroups")}</p>}
				{tools?.map((tool) => (
					<ToolCard key={tool.name} link={link} tool={tool} />
				))}
			</div>
		</details>
	);
}
