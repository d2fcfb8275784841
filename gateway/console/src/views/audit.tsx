import { useSignal } from "@preact/signals";
import type { AuditEntry } from "../../../src/history/audit-log.js";
import { Button, Form, LogList, useLoaded } from "../parts/basics.js";
import { visible, visibleLine } from "../parts/visible.js";
import { ask } from "../store/session.js";
import { dateAndTime, t } from "../texts/index.js";

/** The gateway's log of calls and changes. */
export function AuditView() {
	/** The query of an address: the device and the token that are meant. */
	const query = useSignal("");
	const { value: wanted } = query;
	const read = (): Promise<{ entries: readonly AuditEntry[] }> => ask(`audit?${wanted}`);
	const { value: { entries } = { entries: [] }, problem } = useLoaded(read, [wanted]);
	const search = (data: FormData): void => {
		const given = [...data].map(([name, text]) => [name, String(text).trim()]);
		query.value = new URLSearchParams(given.filter(([, text]) => text !== "")).toString();
	};
	return (
		<>
			<div class="hstack">
				<h1>{t("audit")}</h1>
				<a class="button outline" href={`audit.jsonl?${wanted}`} download>
					{t("exportJsonl")}
				</a>
			</div>
			<p class="text-light">{t("auditHelp")}</p>
			<Form kind="hstack edit" onSubmit={search}>
				<label>
					{t("device")}
					<input name="device" />
				</label>
				<label>
					{t("token")}
					<input name="principal" />
				</label>
				<Button type="submit" class="outline" text={t("show")} />
			</Form>
			{problem !== "" && <p class="banner warn">{visible(problem)}</p>}
			<section class="card" aria-label={t("audit")}>
				{entries.length === 0 ? (
					<p class="text-light">{t("noneFound")}</p>
				) : (
					<LogList kind="audit">
						{entries.map((entry, index) => (
							<Entry key={`${entry.time} ${entries.length - index}`} entry={entry} />
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
