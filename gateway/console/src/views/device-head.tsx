import type { Tool } from "@modelcontextprotocol/client";
import { useSignal } from "@preact/signals";
import type { TargetedEvent } from "preact";
import type { DeviceDetail, FirmwareEntry, FleetRow, StateChange } from "../../../src/console/messages.js";
import { Button } from "../parts/button.js";
import { confirm } from "../parts/confirm.js";
import { attempt, show } from "../parts/notice.js";
import { Star, Tags } from "../parts/tags.js";
import { visibleLine } from "../parts/visible.js";
import { ALIAS, ALIASES, explained, wordsIn } from "../parts/word-fields.js";
import { ask } from "../store/api.js";
import { plain, toolNamed } from "../store/device.js";
import { type DeviceLink, sayOn } from "../store/device-link.js";
import { offerFor, UPGRADE_TOOL } from "../store/firmware.js";
import { now } from "../store/now.js";
import { session } from "../store/session.js";
import { ago, clock, duration, stateText, t } from "../texts/index.js";

interface HeadProps {
	readonly detail: DeviceDetail;
	readonly link: DeviceLink;
}

/** Identity and state of the device, and an operator's actions. */
export function DeviceHead({ detail, link }: HeadProps) {
	const { row, states, pageUrl } = detail;
	const { id, alias, board, version, online, since, transport, state, kind, problem, update } = row;
	const isEditing = useSignal(false);
	return (
		<section class="card device-head">
			<p>
				<a href="#/devices">← {t("devices")}</a>
			</p>
			<div class="title-row">
				<span class={`dot large ${problem ? (online ? "warn" : "off") : "good"}`} aria-hidden="true" />
				<h1>{visibleLine(alias)}</h1>
				<Star row={row} />
				<span class="tag">{online ? (state === undefined ? t("online") : stateText(state)) : t("offline")}</span>
				<Tags tags={row.tags} />
			</div>
			{problem && problem !== "offline" && <p class="bad-text">{t(`problem_${problem}`)}</p>}
			<p class="facts">
				<span>{kind === "server" ? t("server") : visibleLine(id)}</span>
				<span>
					{visibleLine(board)} {visibleLine(version)}
				</span>
				{transport && <span>{transport}</span>}
				{pageUrl && <a href={pageUrl}>{t("devicePage")}</a>}
				<span>
					{online ? t("onlineFor", { time: duration(now.value - since) }) : `${t("lastSeen")} ${ago(since, now.value)}`}
				</span>
			</p>
			<States changes={states} />
			{update && <Update step={update} />}
			{kind === "device" && !session.value?.readOnly && (
				<Actions detail={detail} link={link} onEdit={() => (isEditing.value = !isEditing.value)} />
			)}
			{online && kind === "device" && session.value?.hasVoice && <Say alias={alias} />}
			{isEditing.value && <Edit row={row} onDone={() => (isEditing.value = false)} />}
		</section>
	);
}

/** The states that the device went through since the gateway started. */
export function States({ changes }: { readonly changes: readonly StateChange[] }) {
	return (
		<ol class="strip" aria-label={t("states")}>
			{changes.map(({ state, since }, index) => {
				const end = changes[index + 1]?.since ?? now.value;
				return (
					<li
						key={since}
						class={`state-${plain(state).slice(0, 20)}`}
						style={{ flexGrow: Math.max(1, end - since) }}
						title={`${clock(since)} ${stateText(state)}`}
					>
						{stateText(state)}
					</li>
				);
			})}
		</ol>
	);
}

function Update({ step: { step, version = "", time } }: { readonly step: FirmwareEntry }) {
	return (
		<p class={step === "rolled-back" ? "bad-text" : "muted"}>
			{t(`firmware_${step}`, { version: visibleLine(version) })} · {ago(time, now.value)}
		</p>
	);
}

function Actions({ detail, link, onEdit }: HeadProps & { readonly onEdit: () => void }) {
	const { alias, online } = detail.row;
	const path = `devices/${encodeURIComponent(alias)}`;
	const reboot = toolNamed(link.tools.value, "self_reboot");
	const upgrade = toolNamed(link.tools.value, UPGRADE_TOOL);
	const sure = (text: "confirmForget" | "confirmReboot" | "confirmUpdate", action: string): Promise<boolean> =>
		confirm(t(text, { device: visibleLine(alias) }), action);
	const forget = async (): Promise<void> => {
		if (await sure("confirmForget", t("forget"))) {
			await ask(path, { method: "DELETE" });
			location.hash = "#/devices";
		}
	};
	const restart = async (): Promise<void> => {
		if (reboot && (await sure("confirmReboot", t("reboot")))) {
			report(await link.call(reboot.name, {}));
		}
	};
	const update = async (): Promise<void> => {
		const args = upgrade && (await offerFor(alias, upgrade));
		if (args === undefined) {
			show(t("nothingNewer"));
		} else if (await sure("confirmUpdate", t("update"))) {
			report(await link.call((upgrade as Tool).name, args, (text) => show(text)));
		}
	};
	return (
		<div class="actions">
			{session.value?.operator && <Button onClick={onEdit} text={t("rename")} />}
			{online && upgrade && session.value?.hasFirmware && (
				<Button onClick={() => void attempt(update)} text={t("update")} />
			)}
			{online && reboot && <Button onClick={() => void attempt(restart)} text={t("reboot")} />}
			{online && (
				<Button
					onClick={() => void attempt(() => ask(`${path}/session`, { method: "DELETE" }))}
					text={t("disconnect")}
				/>
			)}
			{!online && <Button class="danger" onClick={() => void attempt(forget)} text={t("forget")} />}
		</div>
	);
}

function report({ error, result }: Partial<Awaited<ReturnType<DeviceLink["call"]>>>): void {
	const isBad = error !== undefined || result?.isError === true;
	const [first] = result?.content ?? [];
	show(error ?? (first?.type === "text" ? visibleLine(first.text) : t("done")), isBad);
}

/** A text that the device says. */
function Say({ alias }: { readonly alias: string }) {
	const isSaying = useSignal(false);
	const submit = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
		event.preventDefault();
		const text = String(new FormData(event.currentTarget).get("text"));
		isSaying.value = true;
		await attempt(async () => report({ result: await sayOn(alias, text) }));
		isSaying.value = false;
	};
	return (
		<form class="edit" onSubmit={(event) => void submit(event)}>
			<label>
				{t("sayText")}
				<input name="text" required maxLength={1_000} />
			</label>
			<Button type="submit" disabled={isSaying.value} text={t("say")} />
		</form>
	);
}

/** A device's name and tags. */
function Edit({ row: { alias, tags }, onDone }: { readonly row: FleetRow; readonly onDone: () => void }) {
	const save = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
		event.preventDefault();
		const form = new FormData(event.currentTarget);
		const name = String(form.get("alias")).trim();
		await attempt(async () => {
			const path = `devices/${encodeURIComponent(alias)}`;
			const changed = { ...(name !== alias && { alias: name }), tags: wordsIn(form, "tags") };
			await ask(path, { method: "PATCH", json: changed });
			onDone();
		});
	};
	return (
		<form class="edit" onSubmit={(event) => void save(event)}>
			<label>
				{t("column_name")}
				<input
					name="alias"
					defaultValue={alias}
					required
					maxLength={24}
					pattern={ALIAS}
					{...explained(t("aliasHelp"))}
				/>
			</label>
			<label>
				{t("column_tags")}
				<input name="tags" defaultValue={tags.join(" ")} pattern={ALIASES} {...explained(t("aliasHelp"))} />
			</label>
			<Button type="submit" class="primary" text={t("save")} />
		</form>
	);
}
