import "./zod-without-eval.js";
import { type JSX, render } from "preact";
import { connect, isConnected, lists, totals } from "./store/fleet.js";
import { language, loadTexts, t } from "./texts.js";
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { useEffect, useRef } from "preact/hooks";
import { type Route, route } from "./store/route.js";
import { phase, session } from "./store/session.js";
import { AuditView } from "./views/audit.js";
import { Badge, ConfirmDialog, Notice } from "./views/basics.js";
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

type Place = Exclude<Route["view"], "device">;

/** The views, in the order of their tabs. */
const VIEWS: Readonly<Record<Place, () => JSX.Element>> = {
	home: HomeView,
	devices: DevicesView,
	clients: ClientsView,
	connect: ConnectView,
	audit: AuditView,
	settings: SettingsView,
};

const PLACES = Object.keys(VIEWS) as Place[];

function Content() {
	if (phase.value === "opening") {
		return <p class="text-light align-center">{t("opening")}</p>;
	}
	if (phase.value !== "open") {
		return <SignIn />;
	}
	const { value } = route;
	if (value.view === "device") {
		return <DeviceView alias={value.alias} />;
	}
	const View = VIEWS[value.view];
	return <View />;
}

function Header() {
	const isOpen = phase.value === "open";
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
					{PLACES.filter((view) => view !== "audit" || session.value?.operator).map((view) => (
						<Tab key={view} view={view} />
					))}
				</nav>
			)}
		</header>
	);
}

function Tab({ view }: { readonly view: Place }) {
	const { view: current } = route.value;
	const hasDevices = view === "devices";
	const isCurrent = current === view || (hasDevices && current === "device");
	const place = useRef<HTMLAnchorElement>(null);
	// The tabs scroll where they do not fit.
	useEffect(
		() => (isCurrent ? place.current?.scrollIntoView({ block: "nearest", inline: "center" }) : undefined),
		[isCurrent],
	);
	return (
		<a ref={place} href={`#/${view}`} aria-current={isCurrent ? "page" : undefined}>
			{t(view)}
			{hasDevices && totals.value && <Badge>{totals.value.all}</Badge>}
			{hasDevices && lists.value.approvals?.length ? (
				<span class="dot warn" role="img" aria-label={t("approvals")} />
			) : null}
		</a>
	);
}

void loadTexts(language.value).then(() => {
	render(<App />, document.getElementById("app") as HTMLElement);
	void connect();
});
