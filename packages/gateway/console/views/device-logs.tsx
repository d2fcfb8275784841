import type { ComponentChildren } from "preact";
import type { CallEntry, EventEntry } from "../../src/console/messages.js";
import { CONSOLE_CLIENT, type DeviceLink } from "../store/device-link.js";
import { clock, t } from "../texts.js";
import { CallText, Card, LogEntry, LogList } from "./basics.js";
import { visible, visibleLine } from "./visible.js";

const MAX_LINES = 100;

const MAX_DATA = 300;

/** Caller, tool, duration and outcome of recent calls. Similar calls share a line. */
export function CallLog({ calls }: { readonly calls: readonly CallEntry[] }) {
	return (
		<Card title={t("callLog")}>
			<LogList empty={t("noCalls")}>
				{collapsed(calls).map(({ call, count }) => (
					<LogEntry key={call.number} time={clock(call.time)}>
						<CallText {...call} client={call.client === CONSOLE_CLIENT ? t("console") : call.client}>
							{count > 1 && `×${count}`}
						</CallText>
						{call.answer && <small>→ {visibleLine(call.answer)}</small>}
					</LogEntry>
				))}
			</LogList>
		</Card>
	);
}

/** Merges consecutive calls that are alike into the newest of them, with their number. */
function collapsed(calls: readonly CallEntry[]) {
	const lines: { readonly call: CallEntry; count: number }[] = [];
	const keyOf = ({ tool, principal, outcome, args }: CallEntry): string => [tool, principal, outcome, args].join("\n");
	for (const call of calls) {
		const last = lines.at(-1);
		if (last !== undefined && keyOf(last.call) === keyOf(call)) {
			last.count += 1;
		} else {
			lines.push({ call, count: 1 });
		}
	}
	return lines;
}

/** The events of the device, as clients get them. */
export function EventList({ events, children }: { events: readonly EventEntry[]; children: ComponentChildren }) {
	return (
		<Card title={t("events")}>
			<LogList>
				{events.map(({ eventId, name, time, data }) => (
					<LogEntry key={eventId} time={clock(time)}>
						<code>{visibleLine(name)}</code>{" "}
						{Object.keys(data).length > 0 && <code>{visibleLine(JSON.stringify(data).slice(0, MAX_DATA))}</code>}
					</LogEntry>
				))}
			</LogList>
			{children}
		</Card>
	);
}

/** The device's own log: what the gateway has kept, and more while this view is open. */
export function DeviceLog({ link }: { readonly link: DeviceLink }) {
	const { value: lines } = link.log;
	return (
		<Card title={t("deviceLog")}>
			<LogList empty={t("noLog")}>
				{lines.slice(0, MAX_LINES).map(({ time, level, text }, index) => (
					<LogEntry key={`${time} ${lines.length - index}`} time={clock(time)}>
						<span class={`level ${level}`}>{level}</span> {visible(text)}
					</LogEntry>
				))}
			</LogList>
		</Card>
	);
}
