import { useSignal } from "@preact/signals";
import type { TargetedEvent } from "preact";
import { useEffect } from "preact/hooks";
import type { FlashImage } from "../../../src/devices/firmware/flash-images.js";
import { Button } from "../parts/button.js";
import { Snippet } from "../parts/copy.js";
import { attempt } from "../parts/notice.js";
import { visible, visibleLine } from "../parts/visible.js";
import {
	endFlashing,
	flash,
	flashLog,
	hasSerial,
	joinNetwork,
	readImages,
	type Stage,
	setUpWifi,
	stage,
} from "../store/flashing.js";
import { session } from "../store/session.js";
import { t } from "../texts/index.js";
import { Approvals } from "./approvals.js";

/** From a bare board to one that waits for approval: firmware and Wi-Fi over the cable. */
export function FlashView() {
	const images = useSignal<readonly FlashImage[] | undefined>(undefined);
	useEffect(() => {
		void attempt(async () => {
			images.value = session.value?.operator ? await readImages() : [];
		});
		return () => void endFlashing();
	}, []);
	return (
		<>
			<h1>{t("flashTitle")}</h1>
			{!session.value?.operator && <p class="banner">{t("flashByOperator")}</p>}
			{!hasSerial && <p class="banner warn">{t(isSecureContext ? "noWebSerial" : "notSecure")}</p>}
			{images.value && <Images images={images.value} />}
			<Progress value={stage.value} />
			<Approvals />
			{flashLog.value.length > 0 && (
				<details class="card">
					<summary>{t("flashLog")}</summary>
					{/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long text is scrolled with the keyboard */}
					<pre class="flash-log" tabIndex={0}>
						{visible(flashLog.value.join("\n"))}
					</pre>
				</details>
			)}
		</>
	);
}

function Images({ images }: { readonly images: readonly FlashImage[] }) {
	const isBusy = ["connecting", "writing", "waiting", "scanning", "joining"].includes(stage.value.step);
	const submit = (event: TargetedEvent<HTMLFormElement>): void => {
		event.preventDefault();
		const form = new FormData(event.currentTarget);
		const image = images.find(({ board }) => board === form.get("board"));
		if (image !== undefined) {
			void flash(image, form.get("erase") !== null);
		}
	};
	return (
		<section class="card" aria-labelledby="firmware">
			<h2 id="firmware">{t("firmware")}</h2>
			{images.length === 0 ? (
				<>
					<p class="muted">{t("noImages")}</p>
					<Snippet text={MAKE_IMAGES} />
				</>
			) : (
				<form onSubmit={submit}>
					<p class="muted">{t("flashHelp")}</p>
					<label>
						{t("column_board")}
						<select name="board">
							{images.map(({ board, version, builds }) => (
								<option key={board} value={board}>
									{visibleLine(`${board} · ${builds.map(({ chipFamily }) => chipFamily).join(", ")} · ${version}`)}
								</option>
							))}
						</select>
					</label>
					<label class="check">
						<input name="erase" type="checkbox" /> {t("eraseFirst")}
					</label>
					<div class="actions">
						<Button type="submit" class="primary" disabled={!hasSerial || isBusy} text={t("flash")} />
					</div>
				</form>
			)}
			<div class="actions">
				<Button class="quiet" disabled={!hasSerial || isBusy} onClick={() => void setUpWifi()} text={t("onlyWifi")} />
			</div>
		</section>
	);
}

const MAKE_IMAGES = `npm run firmware -- --target esp32/m5stack_cores3 --output FOLDER
xs-mcp-gateway --firmware-folder FOLDER`;

function Progress({ value }: { readonly value: Stage }) {
	switch (value.step) {
		case "choose":
			return null;
		case "writing":
			return (
				<section class="card" role="status">
					<p>{t("flash_writing", { percent: Math.round(value.share * 100) })}</p>
					<progress max={1} value={value.share} aria-label={t("flashTitle")} />
				</section>
			);
		case "networks":
			return <NetworkForm {...value} />;
		case "joined":
			return (
				<section class="card" role="status">
					<p>{t("flash_joined")}</p>
					{/^http:\/\//.test(value.url) && <Snippet text={value.url} />}
				</section>
			);
		case "failed":
			return (
				<section class="card" role="alert">
					<p class="bad-text">{visible(value.text)}</p>
					<p class="muted">{t("flashTips")}</p>
				</section>
			);
		default:
			return (
				<p class="card" role="status">
					{t(`flash_${value.step}`)}
				</p>
			);
	}
}

/** Network and password, which go to the board over the cable, not to the gateway. */
function NetworkForm({ ssids, problem }: Extract<Stage, { readonly step: "networks" }>) {
	const submit = (event: TargetedEvent<HTMLFormElement>): void => {
		event.preventDefault();
		const form = new FormData(event.currentTarget);
		void joinNetwork(String(form.get("ssid")), String(form.get("password")));
	};
	return (
		<section class="card" aria-labelledby="network">
			<h2 id="network">{t("fact_network_ssid")}</h2>
			<p class="muted">{t("wifiHelp")}</p>
			{problem !== undefined && (
				<p class="bad-text" role="alert">
					{problem}
				</p>
			)}
			<form class="edit" onSubmit={submit}>
				<label>
					{t("fact_network_type")}
					<input name="ssid" list="ssids" required maxLength={32} autocomplete="off" />
					<datalist id="ssids">
						{ssids.map((ssid) => (
							<option key={ssid} value={ssid} />
						))}
					</datalist>
				</label>
				<label>
					{t("password")}
					<input name="password" type="password" maxLength={63} autocomplete="off" />
				</label>
				<Button type="submit" class="primary" text={t("join")} />
			</form>
		</section>
	);
}
