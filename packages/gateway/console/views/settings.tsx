import { signal, useSignal } from "@preact/signals";
import type { ListedSettings } from "../../src/config/configuration.js";
import type { DeviceSummary } from "../../src/console/operator-routes.js";
import type { WebhookSummary } from "../../src/events/webhooks.js";
import { ask, session, signOut } from "../store/session.js";
import { chosenLanguage, LANGUAGES, language, THEMES, type Theme, t, theme, visible, visibleLine } from "../texts.js";
import { Badge, Button, Card, Dialog, useLoaded } from "./basics.js";
import { Say } from "./device-head.js";
import { Subscribed } from "./device-logs.js";
import { Segments, Select } from "./inputs.js";

/** Features, and the settings that switch them on. */
const FEATURES = [
	["speech", ["speechCommand", "speechUrl"]],
	["microphones", ["microphones"]],
	["bootstrap", ["bootstrap"]],
	["signIn", ["publicUrl", "issuer"]],
	["history", ["historyBytes"]],
	["audit", ["auditBytes"]],
	["firmware", ["firmwareFolder"]],
	["homeAssistant", ["homeAssistant"]],
] as const;

/** Values that switch a feature off. Clients sign in over HTTPS only. */
const OFF = /^(false|0|closed|http:.*)?$/;

type ListedSetting = ListedSettings[number]["settings"][number];

/** Settings of this page, and for operators those of the gateway: what is on, and where it was set. */
export function SettingsView() {
	const { operator = false } = session.value ?? {};
	const { value, problem } = useLoaded(
		async () => (operator ? await ask<{ groups: ListedSettings }>("settings") : { groups: [] }),
		[operator],
	);
	const { groups = [] } = value ?? {};
	return (
		<>
			<h1>{t("settings")}</h1>
			{problem !== "" && <p class="banner warn">{visible(problem)}</p>}
			<div class="columns">
				{groups.length > 0 && <Features settings={groups.flatMap(({ settings }) => settings)} />}
				<div class="side">
					<Card title={t("thisPageOnly")}>
						<Preferences />
						<div class="hstack">
							<Button onClick={() => (isShown.value = true)} text={t("shortcuts")} />
							{session.value?.signedIn && (
								<Button onClick={signOut} title={session.value.principal} text={t("signOut")} />
							)}
						</div>
					</Card>
					<Tests />
				</div>
			</div>
			{groups.length > 0 && <AllSettings groups={groups} />}
		</>
	);
}

/** Language and colours of the page. */
export function Preferences() {
	return (
		<div class="hstack">
			<Select
				label={t("language")}
				options={Object.entries(LANGUAGES)}
				value={language.value}
				onChange={(tag) => (chosenLanguage.value = tag)}
			/>
			<Select
				label={t("theme")}
				options={THEMES.map((each) => [each, t(`theme_${each}`)])}
				value={theme.value}
				onChange={(each) => (theme.value = each as Theme)}
			/>
		</div>
	);
}

function Features({ settings }: { readonly settings: readonly ListedSetting[] }) {
	return (
		<Card title={t("features")}>
			<ul class="unstyled vstack">
				{FEATURES.map(([feature, names]) => {
					const own = settings.filter(({ name }) => (names as readonly string[]).includes(name));
					const on = own.find(({ value }) => !OFF.test(textOf(value)));
					return (
						<li key={feature} class="hstack">
							<span class={`dot ${on ? "good" : "off"}`} aria-hidden="true" />
							<span class="grow">
								{t(`feature_${feature}`)}
								<small>{on ? `${t("on")} · ${sourceOf(on)}` : t("switchOn", { flag: own[0]?.flag ?? "" })}</small>
							</span>
						</li>
					);
				})}
			</ul>
		</Card>
	);
}

/** Forms that try speech and webhooks. */
function Tests() {
	const { hasVoice } = session.value ?? {};
	const { value } = useLoaded(async () => {
		const { devices } = await ask<{ devices: readonly DeviceSummary[] }>("devices");
		const { webhooks } = await ask<{ webhooks: readonly WebhookSummary[] }>("console/webhooks");
		// Configured servers cannot speak, nor devices that are not connected.
		return { devices: devices.filter(({ transport }) => transport === "websocket" || transport === "mqtt"), webhooks };
	}, []);
	const { devices = [], webhooks = [] } = value ?? {};
	const ended = useSignal<readonly WebhookSummary[]>([]);
	const left = webhooks.filter((each) => !ended.value.includes(each));
	return (
		<>
			{hasVoice && devices.length > 0 && (
				<Card title={t("trySpeech")}>
					<Say devices={devices} />
				</Card>
			)}
			{left.length > 0 && (
				<Card title={t("webhooks")} count={left.length}>
					{left.map((each) => (
						<Subscribed
							key={JSON.stringify([each.name, each.arguments, each.url])}
							webhook={each}
							onEnd={() => (ended.value = [...ended.value, each])}
						/>
					))}
				</Card>
			)}
		</>
	);
}

function AllSettings({ groups }: { readonly groups: ListedSettings }) {
	const shown = useSignal<"set" | "all">("set");
	const found = groups
		.map(({ group, settings }) => ({
			group,
			settings: settings.filter(({ source }) => shown.value === "all" || source !== undefined),
		}))
		.filter(({ settings }) => settings.length > 0);
	return (
		<Card
			title={t("gatewaySettings")}
			aside={
				<Segments
					label={t("gatewaySettings")}
					options={["set", "all"] as const}
					nameOf={(each) => t(`settings_${each}`)}
					chosen={shown.value}
					onChoose={(each) => (shown.value = each)}
				/>
			}
		>
			<p class="text-light">{t(found.length === 0 ? "noneSet" : "settingsHelp")}</p>
			{found.map(({ group, settings }) => (
				<section key={group} class="vstack" lang="en" aria-label={group}>
					<h3>{group}</h3>
					<ul class="unstyled vstack">
						{settings.map((setting) => (
							<li key={setting.name} class="hstack setting">
								<span class="grow">
									<b>{setting.name}</b> <Badge>{sourceOf(setting)}</Badge>
									<small>{setting.description}</small>
								</span>
								<code>{visibleLine(textOf(setting.value) || "–")}</code>
							</li>
						))}
					</ul>
				</section>
			))}
		</Card>
	);
}

function sourceOf({ source }: ListedSetting): string {
	return source === undefined ? t("byDefault") : visibleLine(source);
}

/** A setting's value; empty without one. */
function textOf(value: unknown): string {
	const text = typeof value === "object" ? JSON.stringify(value) : String(value ?? "");
	return text === "[]" || text === "{}" ? "" : text;
}

const isShown = signal(false);

/** Keys that were pressed just before: two of the shortcuts start with "g". */
let before = "";

const SHORTCUTS = [
	["/", "search"],
	["g h", "home"],
	["g d", "devices"],
	["g c", "clients"],
	["g m", "connect"],
	["g s", "settings"],
	["?", "shortcuts"],
] as const;

addEventListener("keydown", (event) => {
	const { key, target, ctrlKey, metaKey, altKey } = event;
	const isTyped = target instanceof Element && target.matches("input, select, textarea, [contenteditable]");
	if (isTyped || ctrlKey || metaKey || altKey || document.querySelector("dialog[open]")) {
		before = "";
		return;
	}
	const [, view] = SHORTCUTS.find(([keys]) => keys === `${before} ${key}`) ?? [];
	before = key;
	if (view !== undefined) {
		location.hash = `#/${view}`;
	} else if (key === "/") {
		event.preventDefault();
		document.querySelector<HTMLInputElement>("input[type=search]")?.focus();
	} else if (key === "?") {
		isShown.value = true;
	}
});

/** The sheet of the keyboard's shortcuts. */
export function ShortcutSheet() {
	const close = () => (isShown.value = false);
	return (
		<Dialog isOpen={isShown.value} label={t("shortcuts")} onClose={close}>
			<header>
				<h2>{t("shortcuts")}</h2>
			</header>
			<div>
				<table class="members">
					<tbody>
						{SHORTCUTS.map(([keys, text]) => (
							<tr key={keys}>
								<th scope="row">
									{keys.split(" ").map((key) => (
										<kbd key={key} class="badge" data-variant="secondary">
											{key}
										</kbd>
									))}
								</th>
								<td>{t(text)}</td>
							</tr>
						))}
					</tbody>
				</table>
			</div>
			<footer>
				<Button onClick={close} text={t("close")} />
			</footer>
		</Dialog>
	);
}
