import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { FleetQuery } from "../../src/console/fleet-query.js";
import type { Problem } from "../../src/console/messages.js";
import type { BindingSummary } from "../../src/devices/bootstrap/bootstrap-routes.js";
import { GroupLink } from "../store/device-link.js";
import { list, lists, look, totals } from "../store/fleet.js";
import { keepInAddress, query } from "../store/route.js";
import { ask, session } from "../store/session.js";
import { ago, t, visible, visibleLine } from "../texts.js";
import { Badge, Button, Card, LogEntry, LogList, Snippet, show, useLoaded } from "./basics.js";
import { DeviceTable, type Part } from "./device-table.js";
import { Segments, Select } from "./inputs.js";
import { ToolCard } from "./tool-card.js";

/** Devices that wait for approval, with the codes that they show. The gateway sends them to operators. */
export function Approvals() {
	const pending = lists.value.approvals ?? [];
	const decide = async (method: "POST" | "DELETE", { code, device }: BindingSummary): Promise<void> => {
		await ask(`bindings/${code}`, method);
		show(t(method === "POST" ? "approved" : "rejected", { device: visibleLine(device) }));
	};
	if (pending.length === 0) {
		return null;
	}
	return (
		<Card title={t("approvals")} kind="attention">
			<p class="text-light">{t("approvalsHelp")}</p>
			<ul class="unstyled vstack">
				{pending.map((each) => (
					<li key={each.code} class="hstack pending">
						<code class="code">{each.code}</code>
						<span class="grow">
							{visibleLine(each.board)} {visibleLine(each.version)}
							<small>
								{visibleLine(each.device)} · {each.address}
							</small>
						</span>
						<span class="hstack">
							<Button onClick={() => decide("DELETE", each)} text={t("reject")} />
							<Button class="" onClick={() => decide("POST", each)} text={t("approve")} />
						</span>
					</li>
				))}
			</ul>
		</Card>
	);
}

/** Recent rejections, with their reasons. */
function Rejections({ isOpen = false }: { readonly isOpen?: boolean }) {
	const rejections = lists.value.rejections ?? [];
	if (rejections.length === 0) {
		return null;
	}
	return (
		<details open={isOpen}>
			<summary>
				<span>
					{t("rejections")} <Badge>{rejections.length}</Badge>
				</span>
			</summary>
			<LogList>
				{[...rejections].reverse().map(({ time, description }, index) => (
					<LogEntry key={`${time} ${index}`} time={ago(time)}>
						{visible(description)}
					</LogEntry>
				))}
			</LogList>
		</details>
	);
}

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

/** Instructions to add a device: its backend's address as text and as a QR code, and a virtual device. */
function AddDevice({ isFirst = false }: { readonly isFirst?: boolean }) {
	const urls = session.value?.urls ?? {};
	const backend = urls.websocket ?? urls.mqtt;
	const { bootstrap } = urls;
	// With a bootstrap, a device gets its token there.
	const whereTo = bootstrap === undefined ? `--url ${backend}` : `--ota-url ${bootstrap}`;
	return (
		<section class="card">
			{isFirst && <h1>{t("noDevice")}</h1>}
			<div class="ways">
				<div class="vstack">
					<h2>{t("virtualDevice")}</h2>
					<p class="text-light">{t("virtualDeviceHelp")}</p>
					{backend && <Snippet text={`npm run device -- ${whereTo}`} />}
				</div>
				<div class="vstack">
					<h2>{t("board")}</h2>
					{session.value?.isLoopback ? (
						<>
							<p class="banner warn">{t("onlyThisMachine")}</p>
							<Snippet text="xs-mcp-gateway --websocket-address 0.0.0.0 --bootstrap approve" />
						</>
					) : (
						<p class="text-light">{t("boardHelp")}</p>
					)}
					{backend && !session.value?.isLoopback && (
						<div class="hstack">
							<QrCode text={bootstrap ?? backend} label={t("qr", { url: bootstrap ?? backend })} />
							<div class="grow vstack">
								<p class="text-light">{t("backendUrl")}</p>
								<Snippet text={backend} />
								{bootstrap && (
									<>
										<p class="text-light">{t("bootstrapUrl")}</p>
										<Snippet text={bootstrap} />
									</>
								)}
							</div>
						</div>
					)}
				</div>
			</div>
		</section>
	);
}

/** A text as a QR code, drawn as one path. */
function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
	// Loaded with the first code: pages that show none need not load it.
	const { value: uqr } = useLoaded(() => import("uqr"), []);
	const { data, size } = uqr?.encode(text, { border: 2 }) ?? { data: [], size: 1 };
	const path = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join("");
	return (
		<svg width="132" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shape-rendering="crispEdges">
			<rect width={size} height={size} fill="#fff" />
			<path d={path} fill="#000" />
		</svg>
	);
}
