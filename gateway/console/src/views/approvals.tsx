import type { BindingSummary } from "../../../src/devices/bootstrap/binding-routes.js";
import { Button } from "../parts/button.js";
import { LogList } from "../parts/log-list.js";
import { attempt, show } from "../parts/notice.js";
import { visible, visibleLine } from "../parts/visible.js";
import { ask } from "../store/api.js";
import { lists } from "../store/fleet.js";
import { now } from "../store/now.js";
import { ago, t } from "../texts/index.js";

/** Devices that wait for approval, with the codes that they show. The gateway sends them to operators. */
export function Approvals() {
	const pending = lists.value.approvals ?? [];
	if (pending.length === 0) {
		return null;
	}
	return (
		<section class="card attention" aria-labelledby="approvals">
			<h2 id="approvals">{t("approvals")}</h2>
			<p class="muted">{t("approvalsHelp")}</p>
			<ul class="plain">
				{pending.map((each) => (
					<Pending key={each.code} pending={each} />
				))}
			</ul>
		</section>
	);
}

function Pending({ pending: { code, device, board, version, address } }: { readonly pending: BindingSummary }) {
	const decide = (method: "POST" | "DELETE"): Promise<void> =>
		attempt(async () => {
			await ask(`bindings/${code}`, { method });
			show(t(method === "POST" ? "approved" : "rejected", { device: visibleLine(device) }));
		});
	return (
		<li class="pending">
			<code class="code">{code}</code>
			<span>
				{visibleLine(board)} {visibleLine(version)}
				<small>
					{visibleLine(device)} · {address}
				</small>
			</span>
			<span class="actions">
				<Button onClick={() => void decide("DELETE")} text={t("reject")} />
				<Button class="primary" onClick={() => void decide("POST")} text={t("approve")} />
			</span>
		</li>
	);
}

/** Recent rejections, with their reasons. */
export function Rejections({ isOpen = false }: { readonly isOpen?: boolean }) {
	const rejections = lists.value.rejections ?? [];
	if (rejections.length === 0) {
		return null;
	}
	return (
		<details class="card" open={isOpen}>
			<summary>
				{t("rejections")} <span class="count">{rejections.length}</span>
			</summary>
			<LogList>
				{[...rejections].reverse().map(({ time, description }, index) => (
					<li key={`${time} ${index}`}>
						<time>{ago(time, now.value)}</time> <span>{visible(description)}</span>
					</li>
				))}
			</LogList>
		</details>
	);
}
