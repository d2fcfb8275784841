import { signal, useSignal } from "@preact/signals";
import type { TargetedEvent } from "preact";
import { useEffect } from "preact/hooks";
import type { TokenSummary } from "../../../src/http/console/messages.js";
import { confirm } from "../parts/confirm.js";
import { Snippet } from "../parts/copy.js";
import { attempt } from "../parts/notice.js";
import { visibleLine } from "../parts/visible.js";
import { ask } from "../store/api.js";
import { now } from "../store/now.js";
import { session, signIn } from "../store/session.js";
import { ago, t } from "../texts/index.js";

/** A token that was just created: shown until the page is closed, and never again. */
const created = signal<{ readonly name: string; readonly secret: string } | undefined>(undefined);

const MILLISECONDS_PER_DAY = 86_400_000;

/** The tokens of clients and devices, and a form for another one. */
export function Tokens() {
	const tokens = useSignal<readonly TokenSummary[]>([]);
	const read = async (): Promise<void> => {
		tokens.value = (await ask<{ tokens: readonly TokenSummary[] }>("tokens")).tokens;
	};
	useEffect(() => void attempt(read), []);
	const revoke = async (name: string): Promise<void> => {
		if (await confirm(t("confirmRevoke", { token: visibleLine(name) }), t("revoke"))) {
			await ask(`tokens/${encodeURIComponent(name)}`, { method: "DELETE" });
			await read();
		}
	};
	const create = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
		event.preventDefault();
		const form = event.currentTarget;
		await attempt(async () => {
			const json = requestIn(new FormData(form));
			const { token } = await ask<{ token: string }>("tokens", { method: "POST", json });
			created.value = { name: json.name, secret: token };
			form.reset();
			if (json.kind === "client" && !session.value?.needsToken) {
				// From the first one on, this page needs a token, too.
				await signIn(token);
			}
			if (session.value?.operator) {
				await read();
			}
		});
	};
	return (
		<section class="card" aria-labelledby="tokens">
			<h2 id="tokens">
				{t("tokens")} <span class="count">{tokens.value.length}</span>
			</h2>
			{!session.value?.needsToken && <p class="muted">{t("noTokensYet")}</p>}
			<ul class="plain">
				{tokens.value.map((token) => (
					<TokenLine key={token.name} token={token} onRevoke={() => void attempt(() => revoke(token.name))} />
				))}
			</ul>
			<TokenForm onSubmit={(event) => void create(event)} />
		</section>
	);
}

/** The secret of a token that was just created. */
export function CreatedToken() {
	return (
		created.value && (
			<div class="banner" role="status">
				<p>{t("shownOnce", { token: visibleLine(created.value.name) })}</p>
				<Snippet text={created.value.secret} />
			</div>
		)
	);
}

function TokenLine({ token, onRevoke }: { readonly token: TokenSummary; readonly onRevoke: () => void }) {
	const { name, kind, devices, userTools, operator, readOnly, expires, lastUsed } = token;
	return (
		<li class="line">
			<span class="grow">
				{visibleLine(name)} <span class="tag">{t(kind === "client" ? "forClient" : "forDevice")}</span>
				{userTools && <span class="tag">{t("userTools")}</span>}
				{readOnly && <span class="tag">{t("readOnly")}</span>}
				{operator && <span class="tag warn">{t("operator")}</span>}
				<small>
					{devices === undefined ? t("allDevices") : devices.map(visibleLine).join(", ")}
					{expires && ` · ${t("expires", { date: new Date(expires).toLocaleDateString() })}`}
					{lastUsed !== undefined && ` · ${t("lastUsed")} ${ago(lastUsed, now.value)}`}
				</small>
			</span>
			<button type="button" onClick={onRevoke}>
				{t("revoke")}
			</button>
		</li>
	);
}

function TokenForm({ onSubmit }: { readonly onSubmit: (event: TargetedEvent<HTMLFormElement>) => void }) {
	const kind = useSignal("client");
	return (
		<form class="new-token" onSubmit={onSubmit}>
			<h3>{t("newToken")}</h3>
			<label>
				{t("name")}
				<input name="name" required pattern="[A-Za-z0-9][A-Za-z0-9_.\-]{0,63}" />
			</label>
			<label>
				{t("for")}
				<select name="kind" onChange={({ currentTarget }) => (kind.value = currentTarget.value)}>
					<option value="client">{t("forClient")}</option>
					<option value="device">{t("forDevice")}</option>
				</select>
			</label>
			<label>
				{t("onlyDevices")}
				<input name="devices" placeholder="02:12:34:56:78:9a" />
			</label>
			{kind.value === "client" && (
				<>
					<label>
						{t("days")}
						<input name="days" type="number" min="1" max="9999" />
					</label>
					<label class="check">
						<input name="userTools" type="checkbox" /> {t("userTools")}
					</label>
					<label class="check">
						<input name="operator" type="checkbox" /> {t("operatorHelp")}
					</label>
					<label class="check">
						<input name="readOnly" type="checkbox" /> {t("readOnlyHelp")}
					</label>
				</>
			)}
			<button type="submit" class="primary">
				{t("create")}
			</button>
		</form>
	);
}

function requestIn(form: FormData) {
	const devices = String(form.get("devices"))
		.split(/[\s,]+/)
		.filter((id) => id !== "");
	const days = Number(form.get("days") ?? 0);
	return {
		name: String(form.get("name")),
		kind: String(form.get("kind")),
		...(devices.length > 0 && { devices }),
		...(days > 0 && { expires: new Date(Date.now() + days * MILLISECONDS_PER_DAY).toISOString() }),
		...(form.get("userTools") !== null && { userTools: true }),
		...(form.get("operator") !== null && { operator: true }),
		...(form.get("readOnly") !== null && { readOnly: true }),
	};
}
