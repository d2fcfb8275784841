import { signal, useSignal } from "@preact/signals";
import type { RenderableProps } from "preact";
import { useEffect } from "preact/hooks";
import type { TokenSummary } from "../../src/console/console-routes.js";
import type { TokenQuestion } from "../../src/console/messages.js";
import { ApiError, ask, checkSession, phase, session, signIn } from "../store/session.js";
import { ago, locale, t, visibleLine } from "../texts.js";
import { attempt, Badge, Button, Card, confirm, Form, type FormProps, Snippet, TextField, wordsIn } from "./basics.js";
import { Select } from "./inputs.js";
import { Preferences } from "./settings.js";

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

/** The rights of a token in words: "desk, kitchen · read-only · until 31/12/2026". */
export function rightsText({ names, expires, ...flags }: Partial<TokenSummary>): string {
	return [
		names === undefined ? t("allDevices") : names.map(visibleLine).join(", "),
		...FLAGS.flatMap(([flag]) => (flags[flag] ? t(flag) : [])),
		...(expires ? [t("expires", { date: new Date(expires).toLocaleDateString(locale.value) })] : []),
	].join(" · ");
}

/** The tokens of clients and devices, and a form for another one. */
export function Tokens() {
	const tokens = useSignal<readonly TokenSummary[]>([]);
	const edited = useSignal<TokenSummary | undefined>(undefined);
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
	const save = async (data: FormData, form: HTMLFormElement, token?: TokenSummary): Promise<void> => {
		const answer = await saveToken(data, token).catch(async (error: Error) => {
			// Another operator may have changed or removed the token.
			await attempt(read);
			if (token !== undefined && error instanceof ApiError && error.status === 409) {
				edited.value = tokens.value.find(({ name }) => name === token.name);
			}
			throw error;
		});
		if (answer === undefined) {
			return;
		}
		if (answer.token !== undefined) {
			created.value = { name: String(data.get("name")), secret: answer.token };
			form.reset();
		} else {
			edited.value = undefined;
		}
		// After the first token for clients this page needs one, too: the sign-in shows it. An edit may be of this page's token.
		if ((await checkSession()) && session.value?.operator) {
			await read();
		}
	};
	return (
		<Card title={t("tokens")} count={tokens.value.length}>
			{!session.value?.needsToken && <p class="text-light">{t("noTokensYet")}</p>}
			<ul class="unstyled vstack">
				{tokens.value.map((token) => (
					<li key={token.name} class="vstack">
						<TokenLine token={token}>
							{isEditable(token) && (
								<Button
									onClick={() => (edited.value = edited.value?.name === token.name ? undefined : token)}
									aria-expanded={edited.value?.name === token.name}
									text={t("edit")}
								/>
							)}
							<Button onClick={() => revoke(token)} text={t("revoke")} />
						</TokenLine>
						{edited.value?.name === token.name && (
							<TokenForm token={edited.value} onSubmit={(data, form) => save(data, form, edited.value)} />
						)}
					</li>
				))}
			</ul>
			<TokenForm onSubmit={save} />
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

/**
 * Creates a token, or edits one, after a question if that has consequences for others. Resolves with its secret if it is new, or with
 * undefined if the answer is no.
 */
async function saveToken(form: FormData, token?: TokenSummary): Promise<{ readonly token?: string } | undefined> {
	const json = requestIn(form, token);
	const save = async (more: object): Promise<{ token?: string }> =>
		(await (token === undefined
			? ask<{ token: string }>("tokens", "POST", { name: form.get("name"), ...json, ...more })
			: ask(`tokens/${encodeURIComponent(token.name)}`, "PUT", { ...json, ...more, revision: token.revision }))) ?? {};
	try {
		return await save({});
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
			...(question.isLastOperator ? [t("revokesLastOperator")] : []),
			...(question.unknown.length > 0 ? [t("neverConnected", { devices: namesOf(question.unknown) })] : []),
		];
		const action = isClient ? "cutOffClients" : "cutOffDevices";
		const usual = t(token === undefined ? "create" : "save");
		const isAgreed = await confirm(text, cutOff.length === 0 ? usual : t(action, { count: cutOff.length }));
		return isAgreed ? await save({ yes: true }) : undefined;
	}
}

function namesOf(names: readonly string[]): string {
	const shown = names.slice(0, MAX_NAMED).map(visibleLine).join(", ");
	return names.length > MAX_NAMED ? `${shown}, …` : shown;
}

/** A sign-in has the rights that a person has approved, and a bound device only itself: their names have a colon. */
function isEditable({ name }: TokenSummary): boolean {
	return !name.includes(":");
}

function TokenLine({ token, children }: RenderableProps<{ readonly token: TokenSummary }>) {
	const { name, kind, client, operator, lastUsed } = token;
	return (
		<div class="hstack">
			<span class="grow">
				{visibleLine(name)} <Badge>{t(kind === "client" ? "forClient" : "forDevice")}</Badge>
				{operator && <Badge variant="warning">{t("operator")}</Badge>}
				<small>
					{client !== undefined && `${visibleLine(client)} · `}
					{rightsText({ ...token, operator: false })}
					{lastUsed !== undefined && ` · ${t("lastUsed")} ${ago(lastUsed)}`}
				</small>
			</span>
			<span class="hstack">{children}</span>
		</div>
	);
}

/** @param token the token to edit; undefined for a new one */
function TokenForm({ token, onSubmit }: { token?: TokenSummary | undefined } & Pick<FormProps, "onSubmit">) {
	const kind = useSignal<string>(token?.kind ?? "client");
	const kinds = [["client", t("forClient")] as const, ["device", t("forDevice")] as const];
	const isFirst = kind.value === "client" && session.value?.needsToken === false;
	return (
		<Form kind="token" submit={{ text: t(token === undefined ? "create" : "save") }} onSubmit={onSubmit}>
			{token === undefined && (
				<>
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
						<Select name="kind" options={kinds} onChange={(each) => (kind.value = each)} />
					</label>
				</>
			)}
			{!isFirst && (
				<TextField
					label={t("onlyDevices")}
					name="devices"
					defaultValue={token?.names?.join(", ")}
					placeholder="02:12:34:56:78:9a"
				/>
			)}
			{kind.value === "client" && (
				<>
					<TextField
						label={t("validUntil")}
						name="until"
						type="date"
						min={dateOf(new Date().toISOString())}
						max="9999-12-31"
						defaultValue={dateOf(token?.expires)}
					/>
					{(isFirst ? FLAGS.slice(0, 2) : FLAGS).map(([flag, text]) => (
						<label key={flag}>
							<input name={flag} type="checkbox" defaultChecked={token?.[flag] ?? false} /> {t(text)}
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
		</Form>
	);
}

/** A time as the value of a date field: YYYY-MM-DD, in the browser's time zone. */
function dateOf(time: string | undefined): string {
	return time === undefined ? "" : new Date(time).toLocaleDateString("sv");
}

/** The devices that a form names. A name that the token had when the form was opened is the device of that time. */
function devicesIn(form: FormData, { names = [], devices = [] }: Partial<TokenSummary>): readonly string[] {
	const idOf = (name: string): string => devices[names.indexOf(name)] ?? name;
	// The id of a server that was forgotten may have a space.
	return wordsIn(form, "devices", /,/).flatMap((part) =>
		names.includes(part) ? idOf(part) : part.split(/\s+/).map(idOf),
	);
}

function requestIn(form: FormData, token: TokenSummary | undefined) {
	const devices = devicesIn(form, token ?? {});
	const until = String(form.get("until") ?? "");
	// The day that a token is valid until is its last one.
	const isKept = until === dateOf(token?.expires);
	return {
		kind: token?.kind ?? String(form.get("kind")),
		...(devices.length > 0 && { devices }),
		...(until !== "" && { expires: isKept ? token?.expires : new Date(`${until}T23:59:59`).toISOString() }),
		...Object.fromEntries(FLAGS.filter(([flag]) => form.has(flag)).map(([flag]) => [flag, true])),
	};
}

/** Exchanges a token for a session. */
export function SignIn() {
	const submit = (data: FormData): Promise<void> =>
		signIn(String(data.get("token"))).catch((error) => {
			const isWrong = error instanceof ApiError && error.status === 401;
			throw isWrong ? new Error(t("wrongToken")) : error;
		});
	return (
		<section class="card sign-in">
			<h1>{t("signIn")}</h1>
			{(phase.value === "expired" || phase.value === "token-needed") && (
				<p class="banner warn" role="status">
					{t(phase.value === "expired" ? "expired" : "tokenNeeded")}
				</p>
			)}
			{phase.value === "token-needed" && <CreatedToken />}
			<Form submit={{ text: t("signIn") }} onSubmit={submit}>
				<TextField
					label={t("token")}
					name="token"
					type="password"
					autocomplete="current-password"
					required
					placeholder="xsmcp_…"
				/>
			</Form>
			<p class="text-light">{t("makeToken")}</p>
			<Snippet text="xs-mcp-gateway token add me --for client --operator" />
			<Preferences />
		</section>
	);
}
