import { useSignal } from "@preact/signals";
import type { TargetedEvent } from "preact";
import { useEffect } from "preact/hooks";
import type { AuditEntry } from "../../../src/history/audit-log.js";
import { Button } from "../parts/button.js";
import { LogList } from "../parts/log-list.js";
import { visible, visibleLine } from "../parts/visible.js";
import { type AuditQuery, auditQuery, readAudit } from "../store/history.js";
import { dateAndTime, t } from "../texts/index.js";

/** The gateway's log of calls and changes. */
export function AuditView() {
	const query = useSignal<AuditQuery>({ device: "", principal: "" });
	const entries = useSignal<readonly AuditEntry[]>([]);
	const problem = useSignal("");
	const { value: wanted } = query;
	useEffect(() => {
		const read = async (): Promise<void> => {
			try {
				entries.value = await readAudit(wanted);
				problem.value = "";
			} catch (error) {
				problem.value = (error as Error).message;
			}
		};
		void read();
	}, [wanted]);
	const submit = (event: TargetedEvent<HTMLFormElement>): void => {
		event.preventDefault();
		const form = new FormData(event.currentTarget);
		const [device, principal] = ["device", "principal"].map((name) => String(form.get(name)).trim());
		query.value = { device: device ?? "", principal: principal ?? "" };
	};
	return (
		<>
			<div class="title-row">
				<h1>{t("audit")}</h1>
				<a class="button" href={`audit.jsonl?${auditQuery(wanted)}`} download>
					{t("exportJsonl")}
				</a>
			</div>
			<p class="muted">{t("auditHelp")}</p>
			<form class="edit" onSubmit={submit}>
				<label>
					{t("device")}
					<input name="device" />
				</label>
				<label>
					{t("token")}
					<input name="principal" />
				</label>
				<Button type="submit" text={t("show")} />
			</form>
			{problem.value !== "" && <p class="banner warn">{visible(problem.value)}</p>}
			<section class="card" aria-label={t("audit")}>
				{entries.value.length === 0 ? (
					<p class="muted">{t("noneFound")}</p>
				) : (
					<LogList kind="audit">
						{entries.value.map((entry, index) => (
							<Entry key={`${entry.time} ${entries.value.length - index}`} entry={entry} />
						))}
					</LogList>
				)}
			</section>
		</>
	);
}

function Entry({ entry }: { readonly entry: AuditEntry }) {
	const { time, principal } = entry;
	return (
		<li>
			<time dateTime={time}>{dateAndTime(Date.parse(time))}</time>
			<span>
				{"tool" in entry ? (
					<>
						<b>{visibleLine(entry.alias ?? entry.device)}</b> <code>{visibleLine(entry.tool)}</code>{" "}
						{entry.args !== undefined && entry.args !== "{}" && <code>{visibleLine(entry.args)}</code>}
						<small>
							{entry.client && `${visibleLine(entry.client)} · `}
							{visibleLine(principal)} · {Math.round(entry.duration)} ms
							{entry.outcome !== "ok" && <span class="bad-text"> · {entry.outcome}</span>}
						</small>
					</>
				) : (
					<>
						<code>{visibleLine(entry.request)}</code>
						<small>
							{visibleLine(principal)} · <span class={entry.status < 400 ? "" : "bad-text"}>{entry.status}</span>
						</small>
					</>
				)}
			</span>
		</li>
	);
}
