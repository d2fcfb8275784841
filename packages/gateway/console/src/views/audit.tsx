import { useSignal } from "@preact/signals";
import type { AuditEntry } from "../../../src/history/audit-log.js";
import { Button, CallText, Form, LogEntry, LogList, TextField, useLoaded } from "../parts/basics.js";
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
				<TextField label={t("device")} name="device" />
				<TextField label={t("token")} name="principal" />
				<Button type="submit" class="outline" text={t("show")} />
			</Form>
			{problem !== "" && <p class="banner warn">{visible(problem)}</p>}
			<section class="card" aria-label={t("audit")}>
				<LogList kind="audit" empty={t("noneFound")}>
					{entries.map((entry, index) => (
						<LogEntry key={`${entry.time} ${entries.length - index}`} time={dateAndTime(Date.parse(entry.time))}>
							{"tool" in entry ? (
								<>
									<b>{visibleLine(entry.alias ?? entry.device)}</b> <CallText {...entry} />
								</>
							) : (
								<>
									<code>{visibleLine(entry.request)}</code>
									<small>
										{visibleLine(entry.principal)} ·{" "}
										<span class={entry.status < 400 ? "" : "bad-text"}>{entry.status}</span>
									</small>
								</>
							)}
						</LogEntry>
					))}
				</LogList>
			</section>
		</>
	);
}
