import { isConnected, lists, totals } from "./store/fleet.js";
import { chosenLanguage, THEMES, type Theme, theme } from "./store/preferences.js";
import { route } from "./store/route.js";
import { phase, session, signOut } from "./store/session.js";
import { LANGUAGES, language, t } from "./texts.js";
import { AuditView } from "./views/audit.js";
import { Button, ConfirmDialog, Notice } from "./views/basics.js";
import { ClientsView } from "./views/clients.js";
import { ConnectView } from "./views/connect.js";
import { DeviceView } from "./views/device.js";
import { DevicesView } from "./views/devices.js";
import { HomeView } from "./views/home.js";
import { Select } from "./views/inputs.js";
import { Shortcuts } from "./views/shortcuts.js";
import { SignIn } from "./views/sign-in.js";

/** The whole page. */
export function App() {
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
	}
}

function Header() {
	const isOpen = phase.value === "open";
	const waiting = lists.value.approvals?.length ?? 0;
	return (
		<header>
			<a class="brand" href="#/home">
				<svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
					<rect width="32" height="32" rx="9" fill="#0f766e" />
					<circle cx="11" cy="15" r="3" fill="#fff" />
					<circle cx="21" cy="15" r="3" fill="#fff" />
					<path d="M11 22q5 3 10 0" stroke="#fff" stroke-width="2" fill="none" stroke-linecap="round" />
				</svg>
				xs-mcp
			</a>
			{isOpen && (
				<nav aria-label={t("views")}>
					<Tab view="home" text={t("home")} />
					<Tab view="devices" text={t("devices")} count={totals.value?.all} alert={waiting > 0} />
					<Tab view="clients" text={t("clients")} />
					<Tab view="connect" text={t("connect")} />
					{session.value?.operator && <Tab view="audit" text={t("audit")} />}
				</nav>
			)}
			<div class="hstack settings">
				{isOpen && <Shortcuts />}
				<Select
					label={t("language")}
					options={Object.entries(LANGUAGES)}
					value={language.value}
					onChange={(tag) => (chosenLanguage.value = tag)}
				/>
				<Select
					label={t("theme")}
					options={THEMES.map((each) => [each, t(`theme_${each}`)])}
					value={theme.value}
					onChange={(each) => (theme.value = each as Theme)}
				/>
				{isOpen && session.value?.signedIn && (
					<Button class="ghost small" onClick={signOut} title={session.value.principal} text={t("signOut")} />
				)}
			</div>
		</header>
	);
}

function Tab({ view, text, count, alert }: { view: string; text: string; count?: number; alert?: boolean }) {
	const { view: current } = route.value;
	const isCurrent = current === view || (view === "devices" && current === "device");
	return (
		<a href={`#/${view}`} aria-current={isCurrent ? "page" : undefined}>
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
