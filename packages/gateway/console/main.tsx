import "./zod-without-eval.js";
import { render } from "preact";
import { connect, isConnected, lists, totals } from "./store/fleet.js";
import { language, loadTexts, t } from "./texts.js";
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { useEffect, useRef } from "preact/hooks";
import { route } from "./store/route.js";
import { phase, session } from "./store/session.js";
import { AuditView } from "./views/audit.js";
import { ConfirmDialog, Notice } from "./views/basics.js";
import { ClientsView, ConnectView } from "./views/clients.js";
import { DeviceView } from "./views/device.js";
import { DevicesView } from "./views/devices.js";
import { HomeView } from "./views/home.js";
import { SettingsView, ShortcutSheet } from "./views/settings.js";
import { SignIn } from "./views/tokens.js";

/** The whole page. */
function App() {
	return (
		<>
			<Header />
			{!isConnected.value && (
				<p class="banner warn" role="status">
					{t("lost")}
				</p>
			)}
			{session.value?.readOnly && <p class="banner">{t("readOnlyToken")}</p>}
			<main id="main">
				<Content />
			</main>
			<Notice />
			<ShortcutSheet />
			<ConfirmDialog />
		</>
	);
}

function Content() {
	if (phase.value === "opening") {
		return <p class="text-light align-center">{t("opening")}</p>;
	}
	if (phase.value !== "open") {
		return <SignIn />;
	}
	const { value } = route;
	switch (value.view) {
		case "home":
			return <HomeView />;
		case "devices":
			return <DevicesView />;
		case "device":
			return <DeviceView alias={value.alias} />;
		case "clients":
			return <ClientsView />;
		case "connect":
			return <ConnectView />;
		case "audit":
			return <AuditView />;
		case "settings":
			return <SettingsView />;
	}
}

function Header() {
	const isOpen = phase.value === "open";
	const waiting = lists.value.approvals?.length ?? 0;
	return (
		<header>
			<a class="brand" href="#/home" aria-label="xs-mcp">
				<svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
					<rect width="32" height="32" rx="9" fill="#0f766e" />
					<circle cx="11" cy="15" r="3" fill="#fff" />
					<circle cx="21" cy="15" r="3" fill="#fff" />
					<path d="M11 22q5 3 10 0" stroke="#fff" stroke-width="2" fill="none" stroke-linecap="round" />
				</svg>
				<span>xs-mcp</span>
			</a>
			{isOpen && (
				<nav aria-label={t("views")}>
					<Tab view="home" text={t("home")} />
					<Tab view="devices" text={t("devices")} count={totals.value?.all} alert={waiting > 0} />
					<Tab view="clients" text={t("clients")} />
					<Tab view="connect" text={t("connect")} />
					{session.value?.operator && <Tab view="audit" text={t("audit")} />}
					<Tab view="settings" text={t("settings")} />
				</nav>
			)}
		</header>
	);
}

function Tab({ view, text, count, alert }: { view: string; text: string; count?: number; alert?: boolean }) {
	const { view: current } = route.value;
	const isCurrent = current === view || (view === "devices" && current === "device");
	const place = useRef<HTMLAnchorElement>(null);
	// The tabs scroll where they do not fit.
	useEffect(
		() => (isCurrent ? place.current?.scrollIntoView({ block: "nearest", inline: "center" }) : undefined),
		[isCurrent],
	);
	return (
		<a ref={place} href={`#/${view}`} aria-current={isCurrent ? "page" : undefined}>
			{text}
			{count !== undefined && (
				<span class="badge" data-variant="secondary">
					{count}
				</span>
			)}
			{alert && <span class="dot warn" role="img" aria-label={t("approvals")} />}
		</a>
	);
}

void loadTexts(language.value).then(() => {
	render(<App />, document.getElementById("app") as HTMLElement);
	void connect();
});
