import type { Tool } from "@modelcontextprotocol/client";
import { useEffect, useMemo } from "preact/hooks";
import type { FleetRow } from "../../src/console/fleet.js";
import { FAVOURITE } from "../../src/console/messages.js";
import { controlsOf, readingsIn } from "../store/controls.js";
import { DeviceLink } from "../store/device-link.js";
import { isConnected, list, look, totals } from "../store/fleet.js";
import { deviceHref, NO_QUERY } from "../store/route.js";
import { ago, t, visibleLine } from "../texts.js";
import { controlName, factName, factValue, readingName, readingValue } from "../words.js";
import { Badge, Card } from "./basics.js";
import { Tile } from "./controls.js";
import { DeviceIcon, nameOf, StateDot, stateOf } from "./device-table.js";
import { Approvals, DevicesView } from "./devices.js";

/** Devices on the page; the table has all. */
const MAX_DEVICES = 60;

/** Readings and switches of one device. */
const MAX_READINGS = 4;
const MAX_SWITCHES = 4;

const STATUS_TOOL = "self.get_device_status";

/** The start page: the devices of each room, with what they measure and what can be switched. */
export function HomeView() {
	const { value: shown } = list;
	const isEmpty = totals.value?.all === 0;
	useEffect(() => {
		// If there are no devices, this page shows DevicesView, which sets the view itself.
		if (!isEmpty) {
			look({ list: { ...NO_QUERY, offset: 0, count: MAX_DEVICES, hasStatus: true } });
		}
	}, [isEmpty]);
	if (totals.value === undefined || shown === undefined) {
		return <p class="text-light align-center">{t("opening")}</p>;
	}
	if (isEmpty) {
		return <DevicesView />;
	}
	const rooms = new Map<string, FleetRow[]>();
	for (const row of shown.rows) {
		const tags = row.tags.filter((tag) => tag !== FAVOURITE);
		for (const room of tags.length > 0 ? tags : [""]) {
			rooms.set(room, [...(rooms.get(room) ?? []), row]);
		}
	}
	const sorted = [...rooms].sort(
		([one], [other]) => Number(one === "") - Number(other === "") || (one < other ? -1 : 1),
	);
	return (
		<>
			<h1>{t("home")}</h1>
			<Approvals />
			<div class="rooms">
				{sorted.map(([room, rows]) => (
					<Card
						key={room}
						title={room === "" ? t(rooms.size > 1 ? "otherDevices" : "devices") : visibleLine(room)}
						kind="home"
					>
						{rows.map((row) => (
							<DeviceTile key={row.id} row={row} />
						))}
					</Card>
				))}
			</div>
			{shown.found > MAX_DEVICES && <a href="#/devices">{t("allDevices")}</a>}
		</>
	);
}

function DeviceTile({ row }: { readonly row: FleetRow }) {
	const { alias, online, since, problem, update, status: reported, setters = [] } = row;
	const link = useMemo(() => new DeviceLink(alias), [alias]);
	useEffect(() => {
		link.tools.value = [...setters, STATUS_TOOL].map(
			(name): Tool => ({ name, inputSchema: { type: "object" }, annotations: { destructiveHint: false } }),
		);
	}, [link, setters.join()]);
	useEffect(() => reported && link.take(reported), [link, reported]);
	const { value: status } = link.status;
	const controls = controlsOf(link.tools.value ?? [], status);
	const switches = controls.filter(({ inputs: [first] }) => first?.schema.type === "boolean");
	const { readings: all, facts } = readingsIn(status, new Set());
	const sensors = all.filter(({ path, kind }) => path.startsWith("sensors.") && kind !== "motion");
	const battery = all.filter(({ path }) => path === "battery.level");
	const weakSignal = facts.find(([path, value]) => path === "network.signal" && value === "weak");
	return (
		<article>
			<div class="hstack">
				<a href={deviceHref(alias)}>
					<DeviceIcon row={row} /> <b>{nameOf(row)}</b>
				</a>
				<small>
					<StateDot row={row} /> {online ? stateOf(row) : `${t("lastSeen")} ${ago(since)}`}
				</small>
			</div>
			{problem && problem !== "offline" && <Badge variant="warning">{t(`problem_${problem}`)}</Badge>}
			{update && update.step !== "confirmed" && (
				<Badge>{t(`firmware_${update.step}`, { version: visibleLine(update.version ?? "") })}</Badge>
			)}
			<fieldset class="vstack" disabled={!online || !isConnected.value}>
				{switches.slice(0, MAX_SWITCHES).map((control) => (
					<Tile
						key={control.key}
						link={link}
						control={{ ...control, inputs: control.inputs.slice(0, 1) }}
						name={controlName(control, controls)}
					/>
				))}
			</fieldset>
			<p class="hstack facts text-light">
				{[...sensors.slice(0, MAX_READINGS), ...battery].map((reading) => (
					<span key={reading.path}>
						{readingName(reading)} <b>{readingValue(reading)}</b>
					</span>
				))}
				{weakSignal && (
					<span>
						{factName(weakSignal[0])} <b>{factValue(...weakSignal)}</b>
					</span>
				)}
			</p>
		</article>
	);
}
