import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { FleetRow } from "../../../src/http/console/messages.js";
import { visibleLine } from "../parts/visible.js";
import { now } from "../store/now.js";
import { deviceHref } from "../store/route.js";
import { ago, t } from "../texts/index.js";
import { problemOf } from "./problems.js";

/** Pixels of a row, as the style sheet has it. */
const ROW_HEIGHT = 52;

/** Rows above and below the visible ones that are drawn, too. */
const MARGIN = 8;

const COLUMNS = ["name", "state", "board", "tags", "since", "calls"] as const;

/** A table in which only the rows in sight exist: it may have thousands. */
export function DeviceTable({ rows }: { readonly rows: readonly FleetRow[] }) {
	const body = useRef<HTMLDivElement>(null);
	const first = useSignal(0);
	const count = useSignal(30);
	useEffect(() => {
		const look = (): void => {
			const top = body.current?.getBoundingClientRect().top ?? 0;
			first.value = Math.max(0, Math.floor(-top / ROW_HEIGHT) - MARGIN);
			count.value = Math.ceil(innerHeight / ROW_HEIGHT) + 2 * MARGIN;
		};
		look();
		addEventListener("scroll", look, { passive: true });
		addEventListener("resize", look);
		return () => {
			removeEventListener("scroll", look);
			removeEventListener("resize", look);
		};
	}, [rows.length]);
	const start = Math.min(first.value, Math.max(0, rows.length - 1));
	const shown = rows.slice(start, start + count.value);
	return (
		<div class="table devices" role="table" aria-label={t("devices")} aria-rowcount={rows.length + 1}>
			<div class="row head" role="row" aria-rowindex={1}>
				{COLUMNS.map((column) => (
					<span key={column} role="columnheader" class={column}>
						{t(`column_${column}`)}
					</span>
				))}
			</div>
			<div
				ref={body}
				role="rowgroup"
				class="body"
				style={{ height: `${rows.length * ROW_HEIGHT}px`, paddingTop: `${start * ROW_HEIGHT}px` }}
			>
				{shown.map((row, index) => (
					<Row key={row.id} row={row} index={start + index + 2} />
				))}
			</div>
			{rows.length === 0 && <p class="muted center">{t("noneFound")}</p>}
		</div>
	);
}

function Row({ row, index }: { readonly row: FleetRow; readonly index: number }) {
	const { alias, id, board, version, tags, online, since, state, transport, kind, calls } = row;
	const problem = problemOf(row);
	return (
		<div class="row" role="row" aria-rowindex={index}>
			<span role="cell" class="name">
				<a href={deviceHref(alias)}>{visibleLine(alias)}</a>
				<small>{kind === "server" ? t("server") : visibleLine(id)}</small>
			</span>
			<span role="cell" class="state">
				<span class={`dot ${problem ? (online ? "warn" : "off") : "good"}`} aria-hidden="true" />
				<span>
					{online ? visibleLine(state ?? t("online")) : t("offline")}
					{problem && online && <small class="bad-text">{t(problem)}</small>}
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
				{tags.map((tag) => (
					<span key={tag} class="tag">
						{visibleLine(tag)}
					</span>
				))}
			</span>
			<span role="cell" class="since">
				{ago(since, now.value)}
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
