import type { BindingSummary } from "../../src/devices/bootstrap/bootstrap-routes.js";
import { lists } from "../store/fleet.js";
import { ask } from "../store/session.js";
import { ago, t } from "../texts.js";
import { Badge, Button, Card, LogEntry, LogList, show } from "./basics.js";
import { visible, visibleLine } from "./visible.js";

/** Devices that wait for approval, with the codes that they show. The gateway sends them to operators. */
export function Approvals() {
	const pending = lists.value.approvals ?? [];
	const decide = async (method: "POST" | "DELETE", { code, device }: BindingSummary): Promise<void> => {
		await ask(`bindings/${code}`, method);
		show(t(method === "POST" ? "approved" : "rejected", { device: visibleLine(device) }));
	};
	if (pending.length === 0) {
		return null;
	}
	return (
		<Card title={t("approvals")} kind="attention">
			<p class="text-light">{t("approvalsHelp")}</p>
			<ul class="unstyled vstack">
				{pending.map((each) => (
					<li key={each.code} class="hstack pending">
						<code class="code">{each.code}</code>
						<span class="grow">
							{visibleLine(each.board)} {visibleLine(each.version)}
							<small>
								{visibleLine(each.device)} · {each.address}
							</small>
						</span>
						<span class="hstack">
							<Button onClick={() => decide("DELETE", each)} text={t("reject")} />
							<Button class="" onClick={() => decide("POST", each)} text={t("approve")} />
						</span>
					</li>
				))}
			</ul>
		</Card>
	);
}

/** Recent rejections, with their reasons. */
export function Rejections({ isOpen = false }: { readonly isOpen?: boolean }) {
	const rejections = lists.value.rejections ?? [];
	if (rejections.length === 0) {
		return null;
	}
	return (
		<details open={isOpen}>
			<summary>
				<span>
					{t("rejections")} <Badge>{rejections.length}</Badge>
				</span>
			</summary>
			<LogList>
				{[...rejections].reverse().map(({ time, description }, index) => (
					<LogEntry key={`${time} ${index}`} time={ago(time)}>
						{visible(description)}
					</LogEntry>
				))}
			</LogList>
		</details>
	);
}
