import { useSignal } from "@preact/signals";
import type { DeviceDetail, FleetRow } from "../../src/console/fleet.js";
import type { FirmwareOffer } from "../../src/devices/firmware/firmware-route.js";
import { type Outcome, plain, saidBy, toolNamed } from "../store/device.js";
import { type DeviceLink, sayOn } from "../store/device-link.js";
import { isConnected } from "../store/fleet.js";
import { ask, pathOf, session } from "../store/session.js";
import { ago, clock, duration, now, stateText, t, visibleLine } from "../texts.js";
import { Badge, Button, confirm, Form, show, TextField, wordsIn } from "./basics.js";
import { DeviceIcon, nameOf, Star, StateDot, stateOf, Tags } from "./device-table.js";
import { Select } from "./inputs.js";

/** The form of aliases. */
const ALIAS = "[a-z0-9]+([_\\-][a-z0-9]+)*";

/** Identity and state of the device, and an operator's actions. */
export function DeviceHead({ detail, link }: { detail: DeviceDetail; link: DeviceLink }) {
	const { row, states, pageUrl } = detail;
	const { id, alias, title, board, version, online, since, transport, kind, problem, update } = row;
	const isEditing = useSignal(false);
	return (
		<section class="card device-head">
			<p>
				<a href="#/devices">← {t("devices")}</a>
			</p>
			<div class="hstack">
				<h1>
					<DeviceIcon row={row} />
					{nameOf(row)}
				</h1>
				<Star row={row} />
				<Badge>
					<StateDot row={row} /> {stateOf(row)}
				</Badge>
				<Tags tags={row.tags} />
			</div>
			{problem && problem !== "offline" && <p class="bad-text">{t(`problem_${problem}`)}</p>}
			<p class="hstack facts text-light">
				{title !== undefined && <code>{alias}</code>}
				<span>{kind === "server" ? t("server") : visibleLine(id)}</span>
				<span>
					{visibleLine(board)} {visibleLine(version)}
				</span>
				{transport && <span>{transport}</span>}
				{pageUrl && <a href={pageUrl}>{t("devicePage")}</a>}
				<span>{online ? t("onlineFor", { time: duration(now.value - since) }) : `${t("lastSeen")} ${ago(since)}`}</span>
			</p>
			{states.length > 1 && <States changes={states} />}
			{update && (
				<p class={update.step === "rolled-back" ? "bad-text" : "text-light"}>
					{t(`firmware_${update.step}`, { version: visibleLine(update.version ?? "") })} · {ago(update.time)}
				</p>
			)}
			{kind === "device" && !session.value?.readOnly && isConnected.value && (
				<Actions detail={detail} link={link} onEdit={() => (isEditing.value = !isEditing.value)} />
			)}
			{online && kind === "device" && session.value?.hasVoice && <Say devices={[row]} />}
			{isEditing.value && <Edit row={row} onDone={() => (isEditing.value = false)} />}
		</section>
	);
}

/** The states that the device went through since the gateway started. */
export function States({ changes }: { readonly changes: DeviceDetail["states"] }) {
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
						<span>{stateText(state)}</span>
					</li>
				);
			})}
		</ol>
	);
}

function Actions({ detail, link, onEdit }: { detail: DeviceDetail; link: DeviceLink; onEdit: () => void }) {
	const { alias, online, version } = detail.row;
	const path = pathOf(alias);
	const reboot = toolNamed(link.tools.value, "self_reboot");
	const upgrade = toolNamed(link.tools.value, "self_upgrade_firmware");
	const sure = (
		text: "confirmDisconnect" | "confirmForget" | "confirmReboot" | "confirmUpdate",
		action: string,
		values: Readonly<Record<string, string>> = {},
		notes: readonly string[] = [],
	): Promise<boolean> => confirm([t(text, { device: nameOf(detail.row), ...values }), ...notes], action);
	const disconnect = async (): Promise<void> => {
		if (await sure("confirmDisconnect", t("disconnect"))) {
			await ask(`${path}/session`, "DELETE");
		}
	};
	const forget = async (): Promise<void> => {
		if (await sure("confirmForget", t("forget"))) {
			await ask(path, "DELETE");
			location.hash = "#/devices";
		}
	};
	const restart = async (): Promise<void> => {
		if (reboot && (await sure("confirmReboot", t("reboot")))) {
			report(await link.call(reboot.name, {}));
		}
	};
	const update = async (): Promise<void> => {
		const offer = await ask<Partial<FirmwareOffer> & { readonly notes?: string }>(`${path}/firmware`, "POST", {});
		const notes = offer.notes?.split(/\n\s*/).map((line) => visibleLine(line));
		if (upgrade === undefined || offer.version === undefined) {
			show(t("nothingNewer"));
		} else if (await sure("confirmUpdate", t("update"), { from: version, to: offer.version }, notes)) {
			const known = Object.entries(offer).filter(([key]) => key in (upgrade.inputSchema.properties ?? {}));
			report(await link.call(upgrade.name, Object.fromEntries(known), (text) => show(text)));
		}
	};
	return (
		<div class="hstack">
			{session.value?.operator && <Button onClick={onEdit} text={t("rename")} />}
			{online && upgrade && session.value?.hasFirmware && <Button onClick={update} text={t("update")} />}
			{online && reboot && <Button onClick={restart} text={t("reboot")} />}
			{online && <Button onClick={disconnect} text={t("disconnect")} />}
			{!online && <Button class="outline" data-variant="danger" onClick={forget} text={t("forget")} />}
		</div>
	);
}

function report(outcome: Partial<Outcome>): void {
	const { text, isBad } = saidBy(outcome);
	show(visibleLine(text) || t("done"), isBad);
}

/** A text to say on a device: one of several can be chosen. */
export function Say({ devices }: { readonly devices: readonly Pick<FleetRow, "alias" | "title">[] }) {
	const say = async (data: FormData): Promise<void> =>
		report({ result: await sayOn(String(data.get("device") ?? devices[0]?.alias), String(data.get("text"))) });
	return (
		<Form kind="hstack edit" submit={{ class: "outline", text: t("say") }} onSubmit={say}>
			{devices.length > 1 && (
				<label>
					{t("device")}
					<Select name="device" options={devices.map((each) => [each.alias, nameOf(each)])} />
				</label>
			)}
			<TextField label={t("sayText")} name="text" required maxLength={1_000} />
		</Form>
	);
}

function Edit({ row: { alias, title = "", tags }, onDone }: { readonly row: FleetRow; readonly onDone: () => void }) {
	const save = async (data: FormData): Promise<void> => {
		const name = String(data.get("alias")).trim();
		const words = wordsIn(data, "tags", /[,、，]/);
		await ask(pathOf(alias), "PATCH", {
			...(name !== alias && { alias: name }),
			title: data.get("title"),
			tags: words,
		});
		onDone();
	};
	return (
		<Form kind="hstack edit" submit={{ text: t("save") }} onSubmit={save}>
			<TextField label={t("column_name")} name="title" defaultValue={title} placeholder={alias} maxLength={64} />
			<TextField
				label={t("alias")}
				name="alias"
				defaultValue={alias}
				required
				maxLength={24}
				pattern={ALIAS}
				help={t("aliasHelp")}
			/>
			<TextField label={t("tags")} name="tags" defaultValue={tags.join(", ")} />
		</Form>
	);
}
