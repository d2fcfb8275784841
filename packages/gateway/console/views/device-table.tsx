import { useEffect, useRef } from "preact/hooks";
import { ICON_PATHS } from "../../src/catalog/icon-paths.js";
import type { FleetRow } from "../../src/console/fleet.js";
import type { FleetMessage, FleetQuery } from "../../src/console/fleet-query.js";
import { FAVOURITE } from "../../src/console/messages.js";
import { deviceHref } from "../store/route.js";
import { ask, pathOf, session } from "../store/session.js";
import { ago, stateText, t, visibleLine } from "../texts.js";
import { Button } from "./basics.js";

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

/** Pixels of a row, as in the style sheet. */
const ROW_HEIGHT = 52;

/** Rows by which the part that is asked for moves: scrolling a little asks for nothing. */
const STRIDE = 10;

/** Rows that are asked for. */
export interface Part {
	readonly offset: number;
	readonly count: number;
}

const COLUMNS = ["name", "state", "board", "tags", "since", "calls"] as const;

interface DeviceTableProps {
	readonly list: NonNullable<FleetMessage["list"]>;
	readonly sort: FleetQuery["sort"];
	readonly onSort: (sort: FleetQuery["sort"]) => void;
	/** Called with the rows in sight. */
	readonly onLook: (part: Part) => void;
}

/** A table in which only the rows in sight exist: it may have thousands. */
export function DeviceTable({ list: { found, offset, rows }, sort, onSort, onLook }: DeviceTableProps) {
	const body = useRef<HTMLDivElement>(null);
	const asked = useRef("");
	useEffect(() => {
		const look = (): void => {
			const top = body.current?.getBoundingClientRect().top ?? 0;
			const first = Math.min(Math.max(0, Math.floor(-top / ROW_HEIGHT)), Math.max(0, found - 1));
			const stride = Math.floor(first / STRIDE);
			const offset = Math.max(0, stride - 1) * STRIDE;
			const end = (stride + Math.ceil(innerHeight / ROW_HEIGHT / STRIDE) + 2) * STRIDE;
			const part = { offset, count: end - offset };
			const wanted = JSON.stringify(part);
			if (wanted !== asked.current) {
				asked.current = wanted;
				onLook(part);
			}
		};
		look();
		addEventListener("scroll", look, { passive: true });
		addEventListener("resize", look);
		return () => {
			removeEventListener("scroll", look);
			removeEventListener("resize", look);
		};
	}, [found]);
	return (
		<div class="table devices" role="table" aria-label={t("devices")} aria-rowcount={found + 1}>
			<div class="row head text-light" role="row" aria-rowindex={1}>
				{COLUMNS.map((column) => (
					<ColumnHead key={column} column={column} sort={sort} onSort={onSort} />
				))}
			</div>
			<div
				ref={body}
				role="rowgroup"
				class="body"
				style={{ height: `${found * ROW_HEIGHT}px`, paddingTop: `${offset * ROW_HEIGHT}px` }}
			>
				{rows.map((row, index) => (
					<Row key={row.id} row={row} index={offset + index + 2} />
				))}
			</div>
			{found === 0 && <p class="text-light align-center">{t("noneFound")}</p>}
		</div>
	);
}

type ColumnHeadProps = Pick<DeviceTableProps, "sort" | "onSort"> & { readonly column: (typeof COLUMNS)[number] };

/** The name of a column, which sorts by it: ascending, descending, then as before. */
function ColumnHead({ column, sort, onSort }: ColumnHeadProps) {
	if (column === "tags") {
		return (
			<span role="columnheader" class={column}>
				{t(`column_${column}`)}
			</span>
		);
	}
	const orders = ["", column, `-${column}`] as const;
	const order = Math.max(0, orders.indexOf(sort as (typeof orders)[number]));
	return (
		<span role="columnheader" class={column} aria-sort={(["none", "ascending", "descending"] as const)[order]}>
			<button type="button" class="ghost small" onClick={() => onSort(orders[(order + 1) % orders.length] as "")}>
				{t(`column_${column}`)} {["", "↑", "↓"][order]}
			</button>
		</span>
	);
}

function Row({ row, index }: { readonly row: FleetRow; readonly index: number }) {
	const { alias, title, id, board, version, tags, online, since, transport, kind, calls, problem } = row;
	return (
		<div class="row" role="row" aria-rowindex={index}>
			<span role="cell" class="name">
				<Star row={row} />
				<DeviceIcon row={row} />
				<a href={deviceHref(alias)}>{nameOf(row)}</a>
				<small>
					{title !== undefined && `${alias} · `}
					{kind === "server" ? t("server") : visibleLine(id)}
				</small>
			</span>
			<span role="cell" class="state">
				<StateDot row={row} />
				<span>
					{stateOf(row)}
					{problem && online && <small class="bad-text">{t(`problem_${problem}`)}</small>}
				</span>
			</span>
			<span role="cell" class="board">
				{visibleLine(board)}
				<small>
					{visibleLine(version)}
					{transport && ` · ${transport}`}
				</small>
			</span>
			<span role="cell" class="tags">
				<Tags tags={tags} />
			</span>
			<span role="cell" class="since">
				{ago(since)}
			</span>
			<span role="cell" class="calls">
				{calls && (
					<>
						{calls.count}
						{calls.failed > 0 && <span class="bad-text"> ({t("failedCount", { count: calls.failed })})</span>}
						<small>
							p50 {calls.p50} · p95 {calls.p95} ms
						</small>
					</>
				)}
			</span>
		</div>
	);
}
