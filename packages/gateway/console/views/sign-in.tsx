import { useSignal } from "@preact/signals";
import { ApiError, phase, signIn } from "../store/session.js";
import { t } from "../texts.js";
import { Button, Form, Snippet, TextField } from "./basics.js";
import { Preferences } from "./settings.js";
import { CreatedToken } from "./tokens.js";

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
