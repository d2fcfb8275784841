import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { DeviceDetail } from "../../src/console/fleet.js";
import { DeviceLink } from "../store/device-link.js";
import { device, isConnected, keepLooking, look } from "../store/fleet.js";
import { renameInAddress } from "../store/route.js";
import { session } from "../store/session.js";
import { t, visible, visibleLine } from "../texts.js";
import { toolTitle } from "../words.js";
import { Card, useLoaded } from "./basics.js";
import { Controls } from "./controls.js";
import { DeviceHead } from "./device-head.js";
import { CallLog, EventList, EventWebhook } from "./device-logs.js";
import { DeviceLog, PastView } from "./history.js";
import { Pictures, Readings } from "./readings.js";
import { ToolCard } from "./tool-card.js";

/** Tools that are shown; more are found by searching. */
const MAX_TOOLS = 60;

/** From this number of tools on they can be searched. */
const SEARCHED = 8;

/** One device or configured server. */
export function DeviceView({ alias }: { readonly alias: string }) {
	useEffect(() => look({ device: alias }), [alias]);
	const { value: detail } = device;
	const known = detail?.row;
	useEffect(() => {
		// From now on by its id: it may get another name.
		if (known !== undefined) {
			keepLooking(known.id);
			renameInAddress(known.alias);
		}
	}, [known?.id, known?.alias]);
	if (!detail) {
		return (
			<p class="text-light align-center">
				{detail === null ? t("unknownDevice", { device: visibleLine(alias) }) : t("opening")}
			</p>
		);
	}
	return <KnownDevice key={detail.row.id} detail={detail} />;
}

function KnownDevice({ detail }: { readonly detail: DeviceDetail }) {
	const { row, calls, events } = detail;
	const { alias, online } = row;
	const link = useMemo(() => new DeviceLink(alias), [alias]);
	const isReachable = online && isConnected.value;
	const { problem } = useLoaded(
		async () => isReachable && (await link.open()),
		[link, isReachable, detail.toolsVersion],
	);
	useEffect(() => detail.status && link.take(detail.status), [link, detail]);
	return (
		<>
			<DeviceHead detail={detail} link={link} />
			{problem !== "" && <p class="banner warn">{visible(problem)}</p>}
			<div class="columns">
				<div class="side">
					<Controls link={link} isDisabled={!isReachable} />
					{row.kind === "device" && <PastView link={link} />}
					<Tools link={link} detail={detail} />
				</div>
				<div class="side">
					<Readings link={link} />
					<Pictures link={link} />
					<EventList events={events}>
						<EventWebhook key={alias} alias={alias} isServer={row.kind === "server"} />
					</EventList>
					<CallLog calls={calls} />
					{session.value?.operator && <DeviceLog alias={alias} />}
				</div>
			</div>
		</>
	);
}

function Tools({ link, detail: { row, locked } }: { link: DeviceLink; detail: DeviceDetail }) {
	const search = useSignal("");
	const { value: tools } = link.tools;
	if (tools === undefined) {
		return <p class="card text-light align-center">{t(row.online ? "opening" : "isOffline")}</p>;
	}
	const wanted = search.value.toLowerCase();
	const found = tools.filter(({ name, title = "", description = "" }) =>
		`${name}\n${title}\n${description}`.toLowerCase().includes(wanted),
	);
	return (
		<Card
			title={t("tools")}
			count={tools.length}
			aside={
				tools.length >= SEARCHED && (
					<input
						type="search"
						aria-label={t("searchTools")}
						placeholder={t("searchTools")}
						value={search.value}
						onInput={({ currentTarget }) => (search.value = currentTarget.value)}
					/>
				)
			}
		>
			<div>
				{found.slice(0, MAX_TOOLS).map((tool) => (
					<ToolCard key={tool.name} link={link} tool={tool} />
				))}
			</div>
			{found.length > MAX_TOOLS && <p class="text-light">{t("moreTools", { count: found.length - MAX_TOOLS })}</p>}
			{locked.length > 0 && (
				<section class="vstack" aria-label={t("locked")}>
					<h3>
						<span aria-hidden="true">🔒</span> {t("locked")}
					</h3>
					<p class="text-light">{t(session.value?.needsToken ? "lockedByToken" : "lockedBySetting")}</p>
					<ul class="unstyled vstack">
						{locked.slice(0, MAX_TOOLS).map(({ name, title = name }) => (
							<li key={name}>
								{toolTitle({ title })} <code>{visibleLine(name)}</code>
							</li>
						))}
					</ul>
				</section>
			)}
		</Card>
	);
}
