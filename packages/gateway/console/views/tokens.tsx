import { signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { TokenQuestion, TokenSummary } from "../../src/console/messages.js";
import { ApiError, ask, checkSession, phase, session, signIn } from "../store/session.js";
import { ago, t } from "../texts.js";
import { attempt, Badge, Button, Card, confirm, Form, type FormProps, Snippet, TextField, wordsIn } from "./basics.js";
import { Preferences } from "./settings.js";
import { visibleLine } from "./visible.js";

/** A token that was just created: shown until the page is closed, and never again. */
const created = signal<{ readonly name: string; readonly secret: string } | undefined>(undefined);

/** Permissions and limits of a client's token. */
const FLAGS = [
	["userTools", "userTools"],
	["microphone", "microphoneHelp"],
	["operator", "operatorHelp"],
	["readOnly", "readOnlyHelp"],
] as const;

const MAX_NAMED = 10;

const MILLISECONDS_PER_DAY = 86_400_000;

/** The tokens of clients and devices, and a form for another one. */
export function Tokens() {
	const tokens = useSignal<readonly TokenSummary[]>([]);
	const read = async (): Promise<void> => {
		tokens.value = (await ask<{ tokens: readonly TokenSummary[] }>("tokens")).tokens;
	};
	useEffect(() => void attempt(read), []);
	const revoke = async (token: TokenSummary): Promise<void> => {
		const { name, operator } = token;
		const isLastOperator = operator === true && tokens.value.filter((each) => each.operator).length === 1;
		const question = [
			t("confirmRevoke", { token: visibleLine(name) }),
			...(session.value?.principal === name ? [t("revokesOwn")] : []),
			...(isLastOperator ? [t("revokesLastOperator")] : []),
		];
		if (await confirm(question, t("revoke"))) {
			await ask(`tokens/${encodeURIComponent(name)}`, "DELETE");
			await read();
		}
	};
	const create = async (data: FormData, form: HTMLFormElement): Promise<void> => {
		const json = requestIn(data);
		const token = await createToken(json);
		if (token !== undefined) {
			created.value = { name: json.name, secret: token };
			form.reset();
			// After the first token for clients this page needs one, too: the sign-in shows it.
			if (await checkSession()) {
				await read();
			}
		}
	};
	return (
		<Card title={t("tokens")} count={tokens.value.length}>
			{!session.value?.needsToken && <p class="text-light">{t("noTokensYet")}</p>}
			<ul class="unstyled vstack">
				{tokens.value.map((token) => (
					<TokenLine key={token.name} token={token} onRevoke={() => revoke(token)} />
				))}
			</ul>
			<TokenForm onSubmit={create} />
		</Card>
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

/** Creates a token, after a question if that has consequences for others. Resolves with its secret, or undefined if the answer is no. */
async function createToken(json: ReturnType<typeof requestIn>): Promise<string | undefined> {
	const create = async (more: object): Promise<string> =>
		(await ask<{ token: string }>("tokens", "POST", { ...json, ...more })).token;
	try {
		return await create({});
	} catch (error) {
		const isQuestion = error instanceof ApiError && error.status === 409;
		const { question } = ((isQuestion && error.body) || {}) as { question?: TokenQuestion };
		if (question === undefined) {
			throw error;
		}
		const cutOff = [...question.clients, ...question.devices];
		const isClient = json.kind === "client";
		const text = [
			...(question.isFirst ? [t(isClient ? "firstClientToken" : "firstDeviceToken")] : []),
			...(cutOff.length > 0 ? [t("cutsOff", { count: cutOff.length, names: namesOf(cutOff) })] : []),
			...(question.isFirst && isClient ? [t("pageNeedsToken")] : []),
			...(question.unknown.length > 0 ? [t("neverConnected", { devices: namesOf(question.unknown) })] : []),
		];
		const action = isClient ? "cutOffClients" : "cutOffDevices";
		const isAgreed = await confirm(text, cutOff.length === 0 ? t("create") : t(action, { count: cutOff.length }));
		return isAgreed ? await create({ yes: true }) : undefined;
	}
}

function namesOf(names: readonly string[]): string {
	const shown = names.slice(0, MAX_NAMED).map(visibleLine).join(", ");
	return names.length > MAX_NAMED ? `${shown}, …` : shown;
}

function TokenLine({ token, onRevoke }: { readonly token: TokenSummary; readonly onRevoke: () => unknown }) {
	const { name, kind, client, devices, userTools, microphone, operator, readOnly, expires, lastUsed } = token;
	return (
		<li class="hstack">
			<span class="grow">
				{visibleLine(name)} <Badge>{t(kind === "client" ? "forClient" : "forDevice")}</Badge>
				{userTools && <Badge>{t("userTools")}</Badge>}
				{microphone && <Badge variant="warning">{t("microphone")}</Badge>}
				{readOnly && <Badge>{t("readOnly")}</Badge>}
				{operator && <Badge variant="warning">{t("operator")}</Badge>}
				<small>
					{client !== undefined && `${visibleLine(client)} · `}
					{devices === undefined ? t("allDevices") : devices.map(visibleLine).join(", ")}
					{expires && ` · ${t("expires", { date: new Date(expires).toLocaleDateString() })}`}
					{lastUsed !== undefined && ` · ${t("lastUsed")} ${ago(lastUsed)}`}
				</small>
			</span>
			<Button onClick={onRevoke} text={t("revoke")} />
		</li>
	);
}

function TokenForm({ onSubmit }: Pick<FormProps, "onSubmit">) {
	const kind = useSignal("client");
	const isFirst = kind.value === "client" && session.value?.needsToken === false;
	return (
		<Form kind="new-token" onSubmit={onSubmit}>
			<h3>{t("newToken")}</h3>
			<TextField
				label={t("column_name")}
				name="name"
				required
				pattern="[A-Za-z0-9][A-Za-z0-9_.\-]{0,63}"
				help={t("nameHelp")}
			/>
			<label>
				{t("for")}
				<select name="kind" onChange={({ currentTarget }) => (kind.value = currentTarget.value)}>
					<option value="client">{t("forClient")}</option>
					<option value="device">{t("forDevice")}</option>
				</select>
			</label>
			{!isFirst && <TextField label={t("onlyDevices")} name="devices" placeholder="02:12:34:56:78:9a" />}
			{kind.value === "client" && (
				<>
					<TextField label={t("days")} name="days" type="number" min="1" max="9999" />
					{(isFirst ? FLAGS.slice(0, 2) : FLAGS).map(([flag, text]) => (
						<label key={flag}>
							<input name={flag} type="checkbox" /> {t(text)}
						</label>
					))}
					{isFirst && (
						<p class="text-light">
							<input name="operator" type="hidden" value="on" />
							{t("firstIsOperator")}
						</p>
					)}
				</>
			)}
			<Button type="submit" text={t("create")} />
		</Form>
	);
}

function requestIn(form: FormData) {
	const devices = wordsIn(form, "devices");
	const days = Number(form.get("days") ?? 0);
	return {
		name: String(form.get("name")),
		kind: String(form.get("kind")),
		...(devices.length > 0 && { devices }),
		...(days > 0 && { expires: new Date(Date.now() + days * MILLISECONDS_PER_DAY).toISOString() }),
		...Object.fromEntries(FLAGS.filter(([flag]) => form.has(flag)).map(([flag]) => [flag, true])),
	};
}

/** Exchanges a token for a session. */
export function SignIn() {
	const isBusy = useSignal(false);
	const submit = async (data: FormData): Promise<void> => {
		isBusy.value = true;
		try {
			await signIn(String(data.get("token")));
		} catch (error) {
			const isWrong = error instanceof ApiError && error.status === 401;
			throw isWrong ? new Error(t("wrongToken")) : error;
		} finally {
			isBusy.value = false;
		}
	};
	return (
		<section class="card sign-in">
			<h1>{t("signIn")}</h1>
			{(phase.value === "expired" || phase.value === "token-needed") && (
				<p class="banner warn" role="status">
					{t(phase.value === "expired" ? "expired" : "tokenNeeded")}
				</p>
			)}
			{phase.value === "token-needed" && <CreatedToken />}
			<Form onSubmit={submit}>
				<TextField
					label={t("token")}
					name="token"
					type="password"
					autocomplete="current-password"
					required
					placeholder="xsmcp_…"
				/>
				<Button type="submit" disabled={isBusy.value} text={t("signIn")} />
			</Form>
			<p class="text-light">{t("makeToken")}</p>
			<Snippet text="xs-mcp-gateway token add me --for client --operator" />
			<Preferences />
		</section>
	);
}
