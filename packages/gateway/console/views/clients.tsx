import { lists } from "../store/fleet.js";
import { deviceHref } from "../store/route.js";
import { ask, session } from "../store/session.js";
import { ago, stateText, t, visible, visibleLine } from "../texts.js";
import { Badge, Button, Card, Snippet } from "./basics.js";
import { connectionsTo } from "./connections.js";
import { CreatedToken, Tokens } from "./tokens.js";

/** Clients and servers of the gateway. */
export function ClientsView() {
	const isLimited = session.value?.devices !== undefined;
	return (
		<>
			<h1>{t("clients")}</h1>
			{isLimited ? (
				<p class="banner">{t("limitedToken")}</p>
			) : (
				<div class="columns">
					<Clients />
					<Servers />
				</div>
			)}
			<CreatedToken />
			{session.value?.operator ? <Tokens /> : <p class="banner">{t("notOperator")}</p>}
		</>
	);
}

function Clients() {
	const clients = lists.value.clients ?? [];
	return (
		<Card title={t("connectedClients")} count={clients.length}>
			<p class="text-light">{t("clientsHelp")}</p>
			<div class="scroll" hidden={clients.length === 0}>
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
									{visibleLine(name)}
									<small>{visibleLine(version)}</small>
								</td>
								<td>
									{visibleLine(principal)}{" "}
									{session.value?.signedIn && principal === session.value.principal && <Badge>{t("thisPage")}</Badge>}
								</td>
								<td>{ago(since)}</td>
								<td>{calls}</td>
							</tr>
						))}
					</tbody>
				</table>
			</div>
			{clients.length === 0 && <a href="#/connect">{t("connectFirst")}</a>}
		</Card>
	);
}

function Servers() {
	const servers = lists.value.servers ?? [];
	return (
		<Card title={t("servers")} count={servers.length}>
			{servers.length === 0 ? (
				<p class="text-light">{t("noServers")}</p>
			) : (
				<ul class="unstyled vstack">
					{servers.map(({ id, url, status, tools, lastError }) => (
						<li key={id} class="hstack">
							<span class={`dot ${status === "connected" ? "good" : "warn"}`} aria-hidden="true" />
							<span class="grow">
								<a href={deviceHref(id)}>{visibleLine(id)}</a> <Badge>{stateText(status)}</Badge>
								<small>
									{visibleLine(url)} · {t("toolCount", { count: tools })}
								</small>
								{lastError !== "" && <small class="bad-text">{visible(lastError)}</small>}
							</span>
							{session.value?.operator && (
								<Button onClick={() => ask(`servers/${encodeURIComponent(id)}/restart`, "POST")} text={t("reboot")} />
							)}
						</li>
					))}
				</ul>
			)}
		</Card>
	);
}

/** Instructions to make applications clients of this gateway. */
export function ConnectView() {
	const info = session.value ?? { needsToken: false, hasExtension: false };
	const url = new URL("mcp", document.baseURI).href;
	return (
		<>
			<h1>{t("connect")}</h1>
			<p class="text-light">{t(info.needsToken ? "connectWithToken" : "connectHelp")}</p>
			<Snippet text={url} />
			<div class="ways">
				{connectionsTo(url, info).map(({ name, file, text, link, download }) => (
					<section key={name} class="card" aria-label={name}>
						<div class="hstack">
							<h2>{name}</h2>
							{link && (
								<a class="button outline" href={link}>
									{t("install", { application: name })}
								</a>
							)}
							{download && (
								<a class="button outline" href={download} download>
									{t("downloadExtension")}
								</a>
							)}
						</div>
						{download && <p class="text-light">{t("extensionHelp")}</p>}
						<p class="text-light">{file === undefined ? t("inTerminal") : t("inFile", { file })}</p>
						<Snippet text={text} />
					</section>
				))}
			</div>
		</>
	);
}
