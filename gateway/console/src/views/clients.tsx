import type { ServerEntry } from "../../../src/console/messages.js";
import { Button } from "../parts/button.js";
import { attempt } from "../parts/notice.js";
import { visible, visibleLine } from "../parts/visible.js";
import { ask } from "../store/api.js";
import { CONSOLE_CLIENT } from "../store/device-link.js";
import { lists } from "../store/fleet.js";
import { now } from "../store/now.js";
import { deviceHref } from "../store/route.js";
import { session } from "../store/session.js";
import { ago, t } from "../texts/index.js";
import { CreatedToken, Tokens } from "./tokens.js";

/** Clients and servers of the gateway. */
export function ClientsView() {
	const isLimited = session.value?.devices !== undefined;
	return (
		<>
			<h1>{t("clients")}</h1>
			{isLimited ? <p class="banner">{t("limitedToken")}</p> : <Clients />}
			{!isLimited && <Servers />}
			<CreatedToken />
			{session.value?.operator ? <Tokens /> : <p class="banner">{t("notOperator")}</p>}
		</>
	);
}

function Clients() {
	const clients = lists.value.clients ?? [];
	return (
		<section class="card" aria-labelledby="connected">
			<h2 id="connected">
				{t("connectedClients")} <span class="count">{clients.length}</span>
			</h2>
			<p class="muted">{t("clientsHelp")}</p>
			<div class="scroll">
				<table>
					<thead>
						<tr>
							<th scope="col">{t("application")}</th>
							<th scope="col">{t("token")}</th>
							<th scope="col">{t("column_since")}</th>
							<th scope="col">{t("column_calls")}</th>
						</tr>
					</thead>
					<tbody>
						{clients.map(({ name, version, principal, since, calls }, index) => (
							<tr key={`${since} ${index}`}>
								<td>
									{visibleLine(name)} {name === CONSOLE_CLIENT && <span class="tag">{t("console")}</span>}
									<small>{visibleLine(version)}</small>
								</td>
								<td>
									{visibleLine(principal)}{" "}
									{session.value?.signedIn && principal === session.value.principal && (
										<span class="tag">{t("thisPage")}</span>
									)}
								</td>
								<td>{ago(since, now.value)}</td>
								<td>{calls}</td>
							</tr>
						))}
					</tbody>
				</table>
			</div>
		</section>
	);
}

function Servers() {
	const servers = lists.value.servers ?? [];
	return (
		<section class="card" aria-labelledby="servers">
			<h2 id="servers">
				{t("servers")} <span class="count">{servers.length}</span>
			</h2>
			{servers.length === 0 ? (
				<p class="muted">{t("noServers")}</p>
			) : (
				<ul class="plain">
					{servers.map((server) => (
						<ServerLine key={server.id} server={server} />
					))}
				</ul>
			)}
		</section>
	);
}

function ServerLine({ server: { id, url, status, tools, lastError } }: { readonly server: ServerEntry }) {
	const restart = (): Promise<unknown> => ask(`servers/${encodeURIComponent(id)}/restart`, { method: "POST" });
	return (
		<li class="line">
			<span class={`dot ${status === "connected" ? "good" : "warn"}`} aria-hidden="true" />
			<span class="grow">
				<a href={deviceHref(id)}>{visibleLine(id)}</a> <span class="tag">{status}</span>
				<small>
					{visibleLine(url)} · {t("toolCount", { count: tools })}
				</small>
				{lastError !== "" && <small class="bad-text">{visible(lastError)}</small>}
			</span>
			{session.value?.operator && <Button onClick={() => void attempt(restart)} text={t("reboot")} />}
		</li>
	);
}
