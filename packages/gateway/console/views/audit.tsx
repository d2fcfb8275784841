import { useSignal } from "@preact/signals";
import type { TokenSummary } from "../../src/console/console-routes.js";
import type { AuditEntry } from "../../src/history/audit-log.js";
import { decode } from "../store/route.js";
import { ask } from "../store/session.js";
import { dateAndTime, t, visible, visibleLine } from "../texts.js";
import { CallText, Form, LogEntry, LogList, TextField, useLoaded } from "./basics.js";
import { rightsText } from "./tokens.js";

/** The fields of the form that are times in the browser's time zone. */
const TIMES: ReadonlySet<string> = new Set(["from", "to"]);

type Change = Exclude<AuditEntry, { readonly tool: string }>;

/** Texts of changes, by requests. */
const CHANGES = [
	[/^DELETE \/devices\/([^/]+)$/, "change_forget"],
	[/^DELETE \/devices\/([^/]+)\/session$/, "change_disconnect"],
	[/^POST \/devices\/([^/]+)\/firmware$/, "change_firmware"],
	[/^DELETE \/tokens\/([^/]+)$/, "change_revoke"],
	[/^POST \/bindings\/([^/]+)$/, "change_approve"],
	[/^DELETE \/bindings\/([^/]+)$/, "change_reject"],
	[/^POST \/servers\/([^/]+)\/restart$/, "change_restart"],
] as const;

/** Says a change in words: "renamed desk to kitchen". One that was rejected, or is without words, is shown as its request. */
function changeText({ request, status, change = {} }: Change): string {
	if (status >= 400) {
		return visibleLine(request);
	}
	const name = (encoded: string): string => visibleLine(decode(encoded));
	const [, edited] = /^PATCH \/devices\/([^/]+)$/.exec(request) ?? [];
	const edits = (["alias", "title", "tags"] as const).flatMap((member) => {
		const { [member]: value } = change;
		return edited === undefined || value === undefined
			? []
			: [t(`change_${member}`, { device: name(edited), value: visibleLine([value].flat().join(", ")) || "–" })];
	});
	const [, verb] = /^(POST|PUT) \/tokens/.exec(request) ?? [];
	if (verb !== undefined && typeof change.name === "string") {
		const values = { device: visibleLine(change.name), value: rightsText(change as Partial<TokenSummary>) };
		return t(verb === "PUT" ? "change_edit" : "change_token", values);
	}
	const [text] = CHANGES.flatMap(([pattern, key]) => {
		const [, device] = pattern.exec(request) ?? [];
		return device === undefined ? [] : [t(key, { device: name(device) })];
	});
	return edits.join(", ") || (text ?? visibleLine(request));
}

/** The gateway's log of calls and changes. */
export function AuditView() {
	/** The query of an address: the device and the token that are meant. */
	const query = useSignal("");
	const { value: wanted } = query;
	const read = (): Promise<{ entries: readonly AuditEntry[] }> => ask(`audit?${wanted}`);
	const { value: { entries } = { entries: [] }, problem } = useLoaded(read, [wanted]);
	const search = (data: FormData): void => {
		const given = [...data].map(([name, text]) => [name, String(text).trim()] as const);
		const known = given.filter(([, text]) => text !== "");
		const inUtc = known.map(([name, text]) => [name, TIMES.has(name) ? new Date(text).toISOString() : text]);
		query.value = new URLSearchParams(inUtc).toString();
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
			<Form kind="hstack edit" submit={{ class: "outline", text: t("show") }} onSubmit={search}>
				<TextField label={t("device")} name="device" />
				<TextField label={t("token")} name="principal" />
				<TextField label={t("from")} name="from" type="datetime-local" />
				<TextField label={t("to")} name="to" type="datetime-local" />
			</Form>
			{problem !== "" && <p class="banner warn">{visible(problem)}</p>}
			<section class="card" aria-label={t("audit")}>
				<LogList kind="audit" empty={t("noneFound")}>
					{entries.map((entry, index) => (
						<LogEntry key={`${entry.time} ${entries.length - index}`} time={dateAndTime(Date.parse(entry.time))}>
							{"tool" in entry ? (
								<CallText {...entry}>
									<b>{visibleLine(entry.alias ?? entry.device)}</b>
								</CallText>
							) : (
								<>
									{changeText(entry)}
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
